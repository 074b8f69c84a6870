//! Scripts of clients that come, stay and go.

mod destroy;
mod exchange_id;
mod lease;
mod set_client_id;
