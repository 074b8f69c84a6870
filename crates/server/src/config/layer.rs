//! Settings as one source gives them.

use std::collections::BTreeMap;
use std::fmt::Display;

use hayase_conf::Place;

/// Where what is said there comes from.
pub(super) const COMMAND_LINE: &str = "command line";

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) text: String,
    /// None is the command line.
    pub(crate) place: Option<Place>,
}

impl Given {
    /// Of a file.
    pub(super) fn written(text: String, place: Place) -> Self {
        Given { text, place: Some(place) }
    }

    /// Its source in words.
    pub(super) fn source(&self) -> String {
        match &self.place {
            None => COMMAND_LINE.to_owned(),
            Some(place) => format!("{}:{}", place.file.display(), place.line),
        }
    }
}

/// What one source says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer(BTreeMap<&'static str, Given>);

impl Layer {
    pub(super) fn add(&mut self, name: &'static str, given: Given) {
        self.0.insert(name, given);
    }

    /// Says something on the command line.
    ///
    /// # Panics
    /// There is no such setting: the command line is not what it was written for.
    pub fn say(&mut self, name: &str, value: &dyn Display) {
        let Some(setting) = super::setting::Setting::named(name) else {
            unreachable!("{name} is no setting")
        };
        self.add(setting.name, Given { text: value.to_string(), place: None });
    }

    /// The same with a list.
    ///
    /// # Panics
    /// As [`Layer::say`].
    pub fn say_all<T: ToString>(&mut self, name: &str, values: &[T]) {
        if !values.is_empty() {
            let values: Vec<_> = values.iter().map(ToString::to_string).collect();
            self.say(name, &values.join(&super::setting::LIST.to_string()));
        }
    }

    pub(super) fn of(&self, name: &str) -> Option<&Given> {
        self.0.get(name)
    }
}
