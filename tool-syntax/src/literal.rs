//! Conversion of literals in attributes to JSON.

use serde_json::Value;
use syn::{Expr, ExprLit, ExprUnary, Lit, UnOp};
use tool_model::Number;

/// Converts a literal to JSON: a string, a number, a boolean, or an array of these.
pub(crate) fn to_json(expr: &Expr) -> syn::Result<Value> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(Value::String(text.value())),
        Expr::Lit(ExprLit { lit: Lit::Char(c), .. }) => Ok(Value::String(c.value().to_string())),
        Expr::Lit(ExprLit { lit: Lit::Bool(truth), .. }) => Ok(Value::Bool(truth.value)),
        Expr::Lit(_) | Expr::Unary(_) => exact_number(expr),
        Expr::Array(array) => array.elems.iter().map(to_json).collect::<syn::Result<_>>().map(Value::Array),
        Expr::Group(group) => to_json(&group.expr),
        Expr::Paren(paren) => to_json(&paren.expr),
        _ => Err(syn::Error::new_spanned(
            expr,
            "expected a literal: a string, a number, true, false, or an array of these",
        )),
    }
}

/// Returns `true` if an expression consists of literals only.
pub(crate) fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Unary(unary) => is_literal(&unary.expr),
        Expr::Array(array) => array.elems.iter().all(is_literal),
        Expr::Group(group) => is_literal(&group.expr),
        Expr::Paren(paren) => is_literal(&paren.expr),
        _ => false,
    }
}

/// Converts a number that JSON can represent exactly.
fn exact_number(expr: &Expr) -> syn::Result<Value> {
    let fits = |int: i128| i64::try_from(int).is_ok() || u64::try_from(int).is_ok();
    match number(expr) {
        Ok(Number::Int(int)) if fits(int) => Ok(Number::Int(int).into()),
        Ok(Number::Float(float)) => Ok(Number::Float(float).into()),
        Err(error) if !is_integer(expr) => Err(error),
        _ => Err(syn::Error::new_spanned(
            expr,
            "an integer here is limited to 64 bits, since JSON could not represent it exactly",
        )),
    }
}

fn is_integer(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(_), .. }) => true,
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => is_integer(expr),
        Expr::Group(group) => is_integer(&group.expr),
        _ => false,
    }
}

/// Parses a number literal, optionally negative.
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
