mod queries;
mod registration;
