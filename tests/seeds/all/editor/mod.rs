mod chat;
mod tools;
