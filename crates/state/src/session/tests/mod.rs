//! Scripts of sessions that are made, used, bound and ended.

mod back;
mod connection;
mod create;
mod destroy;
mod sequence;
