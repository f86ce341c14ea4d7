//! Literals in attributes, as JSON.

use serde_json::Value;
use syn::{Expr, ExprLit, ExprUnary, Lit, UnOp};
use tool_model::Number;

/// The JSON of a literal: a string, a number, a truth value, `null` as `()`, or an array of these.
pub(crate) fn to_json(expr: &Expr) -> syn::Result<Value> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(Value::String(text.value())),
        Expr::Lit(ExprLit { lit: Lit::Char(c), .. }) => Ok(Value::String(c.value().to_string())),
        Expr::Lit(ExprLit { lit: Lit::Bool(truth), .. }) => Ok(Value::Bool(truth.value)),
        Expr::Lit(_) | Expr::Unary(_) => number(expr).map(Value::from),
        Expr::Array(array) => array.elems.iter().map(to_json).collect::<syn::Result<_>>().map(Value::Array),
        Expr::Group(group) => to_json(&group.expr),
        Expr::Paren(paren) => to_json(&paren.expr),
        _ => Err(syn::Error::new_spanned(
            expr,
            "expected a literal: a string, a number, true, false, or an array of these",
        )),
    }
}

/// A number literal, which may be negative.
pub(crate) fn number(expr: &Expr) -> syn::Result<Number> {
    let wrong = || syn::Error::new_spanned(expr, "expected a number");
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => int.base10_parse().map(Number::Int),
        Expr::Lit(ExprLit { lit: Lit::Float(float), .. }) => {
            let value: f64 = float.base10_parse()?;
            if value.is_finite() { Ok(Number::Float(value)) } else { Err(wrong()) }
        }
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr: inner, .. }) => number(inner).map(|value| match value {
            Number::Int(int) => Number::Int(-int),
            Number::Float(float) => Number::Float(-float),
        }),
        Expr::Group(group) => number(&group.expr),
        _ => Err(wrong()),
    }
}
