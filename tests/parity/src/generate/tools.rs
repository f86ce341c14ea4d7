//! Random functions and classes.

use super::Generator;
use crate::docs::Docs;
use crate::model::{Class, ClassForm, Form, Function, Output, Parameter, Receiver, Type, TypeRole};
use crate::words;

const PLAIN_FORMS: &[&str] = &[
    "&str",
    "&str",
    "&str",
    "&{std::path::Path}",
    "{std::option::Option}<&str>",
    "{std::option::Option}<&{std::path::Path}>",
    "{std::borrow::Cow}<str>",
    "{std::borrow::Cow}<'_, str>",
    "{std::option::Option}<{std::borrow::Cow}<'static, str>>",
    "impl AsRef<{std::path::Path}>",
    "impl AsRef<str>",
    "impl AsRef<[u8]>",
    "impl Into<{std::string::String}>",
    "impl Into<{std::path::PathBuf}>",
    "impl ToString",
    "impl IntoIterator<Item = u16>",
    "impl Iterator<Item = u16>",
    "impl IntoIterator<Item = impl AsRef<str>>",
    "{std::option::Option}<impl Into<{std::string::String}>>",
    "&[&str]",
    "(&str)",
];

const RECEIVERS: &[&str] =
    &["&self", "&self", "&self", "&mut self", "self", "mut self", "self: std::sync::Arc<Self>", "self: &Self"];

impl Generator {
    /// Returns a free function that is a tool, named after itself or by its attribute.
    pub(super) fn tool_function(&mut self, module: &[String], number: usize) -> Function {
        let verb = self.name_in(module, words::VERBS);
        let plain = verb.trim_start_matches("r#").to_owned();
        let mut function = self.function(verb, Receiver::None);
        let mut tool = self.tool_words(&function);
        if self.chance(80) {
            tool.insert(0, format!("name = \"s{number}.{plain}\""));
        } else {
            function.name = format!("s{number}_{plain}");
        }
        function.tool = Some(tool);
        function.visibility = self.random.pick(&["pub ", "pub ", "", "pub(crate) "]);
        function.cfg = self.cfg(8);
        function
    }

    /// Returns a class with its methods.
    pub(super) fn class(&mut self, module: &[String], number: usize) -> Class {
        let noun = self.random.pick(words::NOUNS);
        let suffix = self.random.pick(&["Service", "", "API"]);
        let name = self.name_in(module, &[&format!("{noun}{number}{suffix}")]);
        let constructor = self.random.pick(&[
            None,
            Some("pub fn new() -> Self { Self }"),
            Some("pub async fn new() -> Self { Self }"),
            Some("pub fn new() -> std::result::Result<Self, std::string::String> { Ok(Self) }"),
            Some("fn new() -> Self { Self }"),
        ]);
        let mut words = Vec::new();
        if self.chance(50) {
            words.push(format!("prefix = \"s{number}.class-{noun}\""));
        }
        let kind: &[&str] = self.random.pick(&[
            &["category = \"general\""] as &[&str],
            &["tags = [\"all\", \"read\"]"],
            &["sensitive"],
            &["inject = [\"ping_host\"]"],
            &[],
            &[],
        ]);
        words.extend(kind.iter().map(|&word| word.to_owned()));
        let injects = kind.first().is_some_and(|word| word.starts_with("inject"));
        let count = self.random.between(1, 4);
        let methods = self.names(words::VERBS, count);
        let mut methods: Vec<Function> =
            methods.into_iter().map(|verb| self.method(verb, constructor.is_some(), injects)).collect();
        // `inject` must name a parameter of the class.
        if let Some(first) = methods.first_mut().filter(|_| injects) {
            first.parameters.retain(|parameter| parameter.name != "ping_host");
            first.parameters.push(named_injection("ping_host", Form::Plain("&str")));
            first.cfg = None;
        }
        // A class without a tool is an error.
        if let Some(first) = methods.first_mut() {
            (first.visibility, first.cfg) = ("pub ", None);
        }
        let form = self.class_form();
        if form != ClassForm::Inherent {
            adapt_methods(form, &mut methods);
        }
        let is_inherent = form == ClassForm::Inherent;
        let constructor = constructor.filter(|_| is_inherent);
        if constructor.is_some() && self.chance(50) {
            words.push("per_call".to_owned());
        }
        if is_inherent {
            self.selection(&methods, &mut words);
        }
        let is_listed = words.iter().any(|word| word.starts_with("include") || word.starts_with("exclude"));
        if !is_listed && methods.iter().any(|method| method.tool.is_some()) && self.chance(15) {
            words.push("opt_in".to_owned());
        }
        Class { form, name, words, constructor, methods }
    }

    fn class_form(&mut self) -> ClassForm {
        match self.random.below(100) {
            0..50 => ClassForm::Inherent,
            50..60 => ClassForm::Generic,
            60..70 => ClassForm::Borrowed,
            70..80 => ClassForm::TraitImpl,
            80..90 => ClassForm::Trait,
            _ => ClassForm::Declared,
        }
    }

    fn method(&mut self, verb: &str, constructed: bool, injects: bool) -> Function {
        let receivers = if constructed { RECEIVERS } else { &["&self"] };
        let receiver = if self.chance(15) { Receiver::None } else { Receiver::Written(self.random.pick(receivers)) };
        let mut function = self.function(verb.to_owned(), receiver);
        if injects && self.chance(50) {
            function.parameters.push(named_injection("ping_host", Form::Plain("&str")));
        }
        if self.chance(40) {
            function.tool = Some(self.tool_words(&function));
        }
        function.visibility = if self.chance(80) { "pub " } else { self.random.pick(&["", "pub(crate) "]) };
        function.cfg = self.cfg(8);
        function
    }

    /// Adds `include` or `exclude`, in some cases.
    fn selection(&mut self, methods: &[Function], words: &mut Vec<String>) {
        let quoted = |method: &Function| format!("{:?}", method.name.trim_start_matches("r#"));
        let present: Vec<&Function> = methods.iter().filter(|method| method.cfg.is_none()).collect();
        if self.chance(12) {
            let names: Vec<String> = present
                .iter()
                .skip(1)
                .filter(|method| method.tool.is_none())
                .take(1)
                .map(|method| quoted(method))
                .collect();
            words.push(format!("exclude = [{}]", names.join(", ")));
        } else if self.chance(12) && present.len() == methods.len() {
            let marked: Vec<String> =
                present.iter().filter(|method| method.tool.is_some()).map(|method| quoted(method)).collect();
            if !marked.is_empty() {
                words.push(format!("include = [{}]", marked.join(", ")));
            }
        }
    }

    fn function(&mut self, name: String, receiver: Receiver) -> Function {
        let count = self.random.pick(&[0, 1, 1, 2, 2, 3, 4, 6]);
        let names = self.names(words::FIELDS, count);
        let mut parameters: Vec<Parameter> = names.iter().map(|name| self.parameter(name)).collect();
        // Two entries may have become the same type, injected by name.
        parameters.sort_by(|a, b| (is_injected_by_name(a), &a.name).cmp(&(is_injected_by_name(b), &b.name)));
        parameters.dedup_by(|a, b| a.name == b.name);
        let plain: Vec<&str> = parameters.iter().map(|parameter| parameter.name.trim_start_matches("r#")).collect();
        let docs = Docs::with_arguments(&mut self.random, &plain).sometimes_conditional(&mut self.random);
        // A lifetime must be explicit there.
        let is_elided = |parameter: &Parameter| matches!(parameter.form, Form::Plain("{std::borrow::Cow}<str>"));
        let is_async = self.chance(35) && !parameters.iter().any(is_elided);
        let output = self.output(is_async);
        Function { name, docs, tool: None, visibility: "pub ", is_async, receiver, parameters, output, cfg: None }
    }

    fn parameter(&mut self, name: &str) -> Parameter {
        if self.chance(6)
            && let Some(injected) = self.of_role(TypeRole::Injected)
        {
            let form = if self.chance(70) { Form::Lent(injected) } else { Form::Owned(injected) };
            if self.chance(30) {
                let reserved = if self.chance(50) { "session" } else { "repository" };
                return named_injection(reserved, form);
            }
            return Parameter { name: name.to_owned(), form, docs: Docs::none(), arg: None, via: None, inject: true };
        }
        let (form, mut arg, via) = if self.chance(8) {
            self.converted()
        } else {
            let form = self.form();
            let arg = self.arg(&form);
            (form, arg, None)
        };
        if name.is_ascii() && self.chance(8) {
            let name = name.trim_start_matches("r#");
            let alias = match self.chance(50) {
                true => format!("alias = \"{name}-other\""),
                false => format!("alias = [\"{name}-b\", \"{name}.a\"]"),
            };
            arg.get_or_insert_default().push(alias);
        }
        if name.is_ascii() && self.chance(5) {
            arg.get_or_insert_default().push(format!("rename = \"{}-new\"", name.trim_start_matches("r#")));
        }
        Parameter { name: name.to_owned(), form, docs: Docs::random(&mut self.random, 40), arg, via, inject: false }
    }

    fn form(&mut self) -> Form {
        match self.random.below(100) {
            0..52 => Form::Owned(self.ty(3)),
            52..60 => Form::Lent(self.ty(2)),
            60..65 => Form::Slice(self.ty(2)),
            65..69 => Form::OptionLent(self.ty(2)),
            69..72 => Form::OptionSlice(self.ty(1)),
            72..82 => self.lesser_form(TypeRole::Opaque),
            82..88 => self.lesser_form(TypeRole::Parsed),
            _ => Form::Plain(self.random.pick(PLAIN_FORMS)),
        }
    }

    /// Returns a parameter whose type has no schema: by itself, in an `Option` or in a list.
    fn lesser_form(&mut self, role: TypeRole) -> Form {
        let Some(ty) = self.of_role(role) else { return Form::Owned(self.ty(1)) };
        match self.random.below(7) {
            0..3 => Form::Owned(ty),
            3 => Form::Owned(Type::option(ty)),
            4 => Form::Owned(Type::list(ty)),
            5 => Form::Lent(ty),
            _ => Form::OptionLent(ty),
        }
    }

    fn output(&mut self, is_async: bool) -> Output {
        let ty = match self.random.below(20) {
            0 => self.of_role(TypeRole::Written),
            1 => self.of_role(TypeRole::Unseen),
            2 => self.of_role(TypeRole::Written).map(Type::list),
            _ => None,
        };
        let ty = match ty.unwrap_or_else(|| self.ty(2)) {
            // Its error becomes the tool's and must implement `Display`.
            ty if self.expand(&ty).path() == Some("std::result::Result") => Type::list(ty),
            ty => ty,
        };
        match self.random.below(100) {
            0..20 => Output::Unit,
            20..60 => Output::Plain(ty),
            60..92 => Output::Result(ty),
            92..96 if !is_async => Output::Future(ty),
            _ => Output::Written(self.random.pick(&["&'static str", "()", "{std::string::String}"])),
        }
    }

    /// Returns the entries of a `#[tool(..)]`, except for its name.
    fn tool_words(&mut self, function: &Function) -> Vec<String> {
        let mut words = Vec::new();
        for (percent, word) in [
            (6, "description = \"Said by `tool`.\""),
            (6, "category = \"special\""),
            (6, "instructions = \"Call it once.\\nThen stop.\""),
            (10, "tags = [\"write\", \"read\"]"),
            (6, "sensitive"),
            (3, "sensitive = false"),
            (6, "idempotent"),
            (4, "sequential"),
            (6, "timeout = \"1500ms\""),
            (3, "strict"),
            (3, "repair = false"),
        ] {
            let key = word.split([' ', '=']).next().unwrap_or(word);
            if self.chance(percent) && !words.iter().any(|other: &String| other.starts_with(key)) {
                words.push(word.to_owned());
            }
        }
        if self.chance(8) {
            let name = function.name.trim_start_matches("r#");
            // Functions of one name are in several modules.
            let number = self.random.below(1_000_000);
            words.push(match self.chance(50) {
                true => format!("alias = \"alias{number}.{name}\""),
                false => format!("alias = [\"b{number}.{name}\", \"a{number}.{name}\"]"),
            });
        }
        let effect = self.random.pick(&["read_only", "destructive", "", "", ""]);
        if !effect.is_empty() {
            words.push(effect.to_owned());
        }
        let waits = function.is_async || matches!(function.output, Output::Future(_));
        if !waits && self.chance(6) {
            words.push("blocking".to_owned());
        }
        if self.chance(12)
            && matches!(&function.output, Output::Plain(ty) | Output::Result(ty) | Output::Future(ty) if self.is_debug(ty))
        {
            words.push("result = debug".to_owned());
        }
        self.explicit(function, &mut words);
        words
    }

    /// Adds `arguments(..)`, in some cases where no parameter is described otherwise.
    fn explicit(&mut self, function: &Function, words: &mut Vec<String>) {
        let filled: Vec<&Parameter> = function
            .parameters
            .iter()
            .filter(|parameter| !parameter.inject && !is_injected_by_name(parameter))
            .collect();
        let is_described = |parameter: &&Parameter| parameter.arg.is_some() || parameter.via.is_some();
        if filled.iter().any(is_described) || !self.chance(8) {
            return;
        }
        let described: Vec<String> = filled
            .iter()
            .map(|parameter| {
                let schema = self.random.pick(&[
                    "type = \"string\", minLength = 2",
                    "type = \"integer\", required = true, minimum = -1",
                    "type = \"array\", items(type = \"integer\"), required = false",
                    "description = \"Whatever.\"",
                    "type = \"string\", \"enum\" = [\"ms\", \"s\"], default = \"ms\"",
                ]);
                format!("{}({schema})", parameter.name)
            })
            .collect();
        words.push(format!("arguments({})", described.join(", ")));
    }
}

/// Keeps what a class of this form can have.
fn adapt_methods(form: ClassForm, methods: &mut [Function]) {
    for method in methods {
        // The bare signature has the same `cfg` as the annotated one: none.
        method.cfg = None;
        if matches!(form, ClassForm::TraitImpl | ClassForm::Trait) {
            method.visibility = "";
        }
        if form != ClassForm::Trait {
            continue;
        }
        if !matches!(method.receiver, Receiver::Written("&self" | "self: &Self")) {
            method.receiver = Receiver::Written("&self");
        }
        method.is_async = false;
        if matches!(method.output, Output::Future(_)) {
            method.output = Output::Unit;
        }
        for parameter in &mut method.parameters {
            if matches!(parameter.form, Form::Plain(text) if text.contains("impl ")) {
                parameter.form = Form::Plain("&str");
            }
        }
    }
}

/// Returns `true` if the dispatcher injects the parameter without a mark.
fn is_injected_by_name(parameter: &Parameter) -> bool {
    matches!(parameter.name.as_str(), "ping_host" | "session" | "repository")
}

fn named_injection(name: &str, form: Form) -> Parameter {
    Parameter { name: name.to_owned(), form, docs: Docs::none(), arg: None, via: None, inject: false }
}
