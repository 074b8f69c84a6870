//! `#[derive(Xdr)]`: both directions of XDR for structs, enums of numbers and
//! discriminated unions. See `hayase-xdr` for what it means.
#![forbid(unsafe_code)]

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Error, Expr, Fields, Result, Variant, parse_macro_input};

/// Derives `hayase_xdr::Decode` and `hayase_xdr::Encode`.
///
/// - struct: its fields in order;
/// - enum whose variants have explicit numbers (`Reg = 1`): that number;
/// - enum whose variants carry `#[xdr(N)]`: the number `N`, then the variant's fields.
#[proc_macro_derive(Xdr, attributes(xdr))]
pub fn derive_xdr(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let (decode, encode) = match &input.data {
        Data::Struct(data) => (decode_fields(&quote!(Self), &data.fields), {
            let (pattern, body) = encode_fields(&data.fields);
            quote!(let Self #pattern = self; #body)
        }),
        Data::Enum(data) => enum_bodies(data)?,
        Data::Union(_) => return Err(Error::new_spanned(name, "Xdr is for structs and enums")),
    };

    let lifetime = input.generics.lifetimes().next().map(|l| l.lifetime.clone());
    let (_, type_generics, where_clause) = input.generics.split_for_impl();
    let mut decode_generics = input.generics.clone();
    let wire = if let Some(lifetime) = &lifetime {
        quote!(#lifetime)
    } else {
        decode_generics.params.insert(0, syn::parse_quote!('xdr));
        quote!('xdr)
    };
    bound(&mut decode_generics, &syn::parse_quote!(::hayase_xdr::Decode<#wire>));
    let mut encode_generics = input.generics.clone();
    bound(&mut encode_generics, &syn::parse_quote!(::hayase_xdr::Encode));
    let (decode_impl, _, _) = decode_generics.split_for_impl();
    let (encode_impl, _, _) = encode_generics.split_for_impl();

    Ok(quote! {
        impl #decode_impl ::hayase_xdr::Decode<#wire> for #name #type_generics #where_clause {
            fn decode(from: &mut ::hayase_xdr::Reader<#wire>) -> ::hayase_xdr::Result<Self> {
                #decode
            }
        }
        impl #encode_impl ::hayase_xdr::Encode for #name #type_generics #where_clause {
            fn encode(&self, to: &mut ::std::vec::Vec<u8>) {
                #encode
            }
        }
    })
}

/// Every type parameter of a generic XDR type is itself an XDR type.
fn bound(generics: &mut syn::Generics, bound: &syn::TypeParamBound) {
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(bound.clone());
    }
}

fn decode_fields(constructor: &TokenStream, fields: &Fields) -> TokenStream {
    let read = quote!(::hayase_xdr::Decode::decode(from)?);
    match fields {
        Fields::Named(named) => {
            let names = named.named.iter().map(|f| &f.ident);
            quote!(::std::result::Result::Ok(#constructor { #(#names: #read),* }))
        }
        Fields::Unnamed(unnamed) => {
            let reads = unnamed.unnamed.iter().map(|_| &read);
            quote!(::std::result::Result::Ok(#constructor(#(#reads),*)))
        }
        Fields::Unit => quote!(::std::result::Result::Ok(#constructor)),
    }
}

/// A pattern that binds all fields, and the code that encodes them in order.
fn encode_fields(fields: &Fields) -> (TokenStream, TokenStream) {
    let bindings: Vec<_> = (0..fields.len()).map(|i| format_ident!("field{i}")).collect();
    let pattern = match fields {
        Fields::Named(named) => {
            let names = named.named.iter().map(|f| &f.ident);
            quote!({ #(#names: #bindings),* })
        }
        Fields::Unnamed(_) => quote!((#(#bindings),*)),
        Fields::Unit => quote!(),
    };
    (pattern, quote!(#(::hayase_xdr::Encode::encode(#bindings, to);)*))
}

fn enum_bodies(data: &DataEnum) -> Result<(TokenStream, TokenStream)> {
    let mut decode_arms = Vec::new();
    let mut encode_arms = Vec::new();
    for variant in &data.variants {
        let name = &variant.ident;
        let number = number_of(variant)?;
        let decode = decode_fields(&quote!(Self::#name), &variant.fields);
        let (pattern, encode) = encode_fields(&variant.fields);
        decode_arms.push(quote!(value if value == (#number) as u32 => { #decode }));
        encode_arms.push(quote!(Self::#name #pattern => {
            ::hayase_xdr::Encode::encode(&((#number) as u32), to);
            #encode
        }));
    }
    Ok((
        quote!(match from.word()? {
            #(#decode_arms)*
            other => ::std::result::Result::Err(::hayase_xdr::Error::UnknownValue(other)),
        }),
        quote!(match self { #(#encode_arms)* }),
    ))
}

fn number_of(variant: &Variant) -> Result<Expr> {
    if let Some((_, number)) = &variant.discriminant {
        return Ok(number.clone());
    }
    let attribute = variant.attrs.iter().find(|a| a.path().is_ident("xdr")).ok_or_else(|| {
        Error::new_spanned(variant, "give the variant its number: `Name = N` or `#[xdr(N)]`")
    })?;
    attribute.parse_args()
}
