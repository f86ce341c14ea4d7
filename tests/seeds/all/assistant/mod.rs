mod built_ins;
mod interface;
