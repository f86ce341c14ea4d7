// The fields of a form: adds and removes rows, and assembles the value. `data-node` is the kind of a node; nodes are nested
// as their values are.

export class Wrong extends Error {
  constructor(node, message) {
    super(message);
    this.node = node;
  }
}

const form = document.getElementById("call");

// Returns the child nodes.
function below(node) {
  return [...node.querySelectorAll("[data-node]")].filter((one) => holder(one) === node);
}

function holder(node) {
  return node.parentElement.closest("[data-node], #call");
}

// Returns the value of a node; undefined if nothing was entered. A row must have a value.
function value(node, isRow = false) {
  const must = isRow || node.dataset.required !== undefined;
  const unlessEmpty = (made, size) => (must || size > 0 ? made : undefined);
  switch (node.dataset.node) {
    case "object": return must || isPresent(node) ? fields(node) : undefined;
    case "list": {
      const rows = below(node).map((row) => value(row, true));
      return unlessEmpty(rows, rows.length);
    }
    case "tuple": return must || isPresent(node) ? below(node).map((one) => value(one) ?? null) : undefined;
    case "map": {
      const all = pairs(node);
      return unlessEmpty(all, Object.keys(all).length);
    }
    case "variant": {
      const [chosen] = below(node);
      return chosen && value(chosen, true);
    }
    case "fixed": return parse(node.value);
    default: return entered(node, isRow);
  }
}

// Returns true if the user has added the value, whose content may be constant or empty.
function isPresent(node) {
  return node.querySelector(":scope > legend .present").checked;
}

// Returns entries, since a name such as `__proto__` must work too.
function fields(node) {
  const entries = below(node).map((one) => [one.dataset.name, value(one)]);
  return Object.fromEntries(entries.filter(([, made]) => made !== undefined));
}

function pairs(node) {
  const seen = new Set();
  const entries = below(node).map((one) => {
    const key = one.closest(".row").querySelector(".key");
    if (key.value === "") throw new Wrong(key, "Enter a key, or remove the row.");
    if (seen.has(key.value)) throw new Wrong(key, "Duplicate key.");
    seen.add(key.value);
    return [key.value, value(one, true)];
  });
  return Object.fromEntries(entries);
}

// Returns the value of a control.
function entered(control, isRow) {
  // For an invalid number the browser returns an empty string.
  if (control.validity.badInput) throw new Wrong(control, "Not a number.");
  const text = control.value;
  const kind = control.dataset.node;
  // A space is a value. So is an empty string if the user has cleared the field.
  const isEmpty = kind === "text" ? text === "" && control.defaultValue === "" : text.trim() === "";
  const mayBeEmpty = ["text", "lines", "values"].includes(kind) && (isRow || control.required);
  if (isEmpty && !mayBeEmpty) {
    if (isRow) throw new Wrong(control, "Enter a value, or remove the row.");
    return undefined;
  }
  switch (kind) {
    case "text": return text;
    case "lines": return text.split("\n").filter((line) => line !== "");
    case "values": return text.split("\n").filter((line) => line.trim() !== "").map((line) => number(control, line.trim()));
    case "number": return number(control, text);
    default: return json(control, text);
  }
}

// Parses a number, including `.5` and `05`, which are not valid JSON.
function number(control, text) {
  if (/^-?\d+$/.test(text)) return json(control, String(BigInt(text)));
  const made = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Infinity;
  return Number.isFinite(made) ? made : json(control, text);
}

function json(control, text) {
  try {
    return parse(text);
  } catch (problem) {
    throw new Wrong(control, problem instanceof RangeError ? problem.message : "Not valid JSON.");
  }
}

// Parses JSON and keeps numbers as they are written: those beyond 2^53 would be rounded, larger ones become infinite.
export function parse(text) {
  return JSON.parse(text, (_, made, context) => {
    if (made === Infinity || made === -Infinity) throw new RangeError("The number is too large.");
    if (!Number.isInteger(made) || Number.isSafeInteger(made)) return made;
    if (!JSON.rawJSON || !context) throw new RangeError("The number is too large for this browser.");
    return JSON.rawJSON(context.source);
  });
}

// Returns the arguments of the call.
export function collect() {
  return fields(form);
}

// Returns the path of a node in the server's notation: `items[0].sku`.
function path(node) {
  const parent = holder(node);
  if (parent === form) return node.dataset.name;
  switch (parent.dataset.node) {
    case "list": case "tuple": return `${path(parent)}[${below(parent).indexOf(node)}]`;
    case "map": return `${path(parent)}.${node.closest(".row").querySelector(".key").value}`;
    case "variant": return path(parent);
    default: return `${path(parent)}.${node.dataset.name}`;
  }
}

// Shows an error at the node of a path, or at its nearest ancestor.
export function markAt(where, message) {
  const isAround = (place) => where.startsWith(place) && [undefined, ".", "["].includes(where[place.length]);
  const places = [...form.querySelectorAll("[data-node]")].map((node) => [path(node), node]);
  const [nearest] = places.filter(([place]) => isAround(place)).sort(([one], [other]) => other.length - one.length);
  if (nearest) mark(nearest[1], message);
}

export function mark(node, message) {
  node.setAttribute("aria-invalid", "true");
  const said = document.createElement("p");
  said.className = "error";
  said.textContent = message;
  if (node.matches("fieldset, .group")) node.append(said);
  else node.after(said);
}

export function unmark() {
  form.querySelectorAll(".error").forEach((said) => said.remove());
  form.querySelectorAll("[aria-invalid]").forEach((node) => node.removeAttribute("aria-invalid"));
}

// Focuses the first node with an error.
export function focusWrong() {
  const wrong = form.querySelector("[aria-invalid]");
  (wrong?.matches("fieldset, .group") ? control(wrong) : wrong)?.focus();
}

function control(node) {
  return node.querySelector("input:not([type=hidden]), select, textarea, button");
}

let copies = 0;

// Copies a template with new ids.
function copy(template) {
  const made = template.content.cloneNode(true);
  copies += 1;
  for (const name of ["id", "for", "aria-describedby"]) {
    for (const one of made.querySelectorAll(`[${name}]`)) one.setAttribute(name, `${one.getAttribute(name)}-${copies}`);
  }
  grow(made);
  return made;
}

function add(rows) {
  rows.append(copy(rows.parentElement.querySelector(":scope > template")));
  return rows.lastElementChild;
}

// Adds the required rows of lists.
function grow(part) {
  for (const rows of part.querySelectorAll(".rows")) {
    while (rows.children.length < Number(rows.dataset.least)) add(rows);
  }
}

form.addEventListener("click", (event) => {
  const list = event.target.closest("[data-node]");
  if (event.target.matches("button.add")) {
    control(add(list.querySelector(":scope > .rows")))?.focus();
  } else if (event.target.matches("button.remove")) {
    const row = event.target.closest(".row");
    const adding = row.parentElement.parentElement.querySelector(":scope > button.add");
    row.remove();
    adding.focus();
  }
});

form.addEventListener("change", (event) => {
  if (!event.target.matches("select.which")) return;
  const node = event.target.closest("[data-node]");
  const template = node.querySelectorAll(":scope > template")[event.target.value];
  node.querySelector(":scope > .chosen").replaceChildren(...(event.target.value === "" ? [] : [copy(template)]));
});

grow(form);
