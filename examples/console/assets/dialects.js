// The definition in each dialect, with its loss report.

const group = document.getElementById("dialects");
const strict = document.getElementById("strict");
const shown = document.getElementById("definition");
const losses = document.getElementById("losses");
const { tool } = document.getElementById("call").dataset;

let newest = "";

async function show() {
  const name = group.querySelector("[aria-pressed=true]").textContent;
  const asked = `/api/dialects/${name}?${new URLSearchParams({ tool, strict: strict.checked })}`;
  newest = asked;
  const response = await fetch(asked);
  const answer = await response.json();
  // Responses may arrive out of order.
  if (asked !== newest) return;
  shown.textContent = response.ok ? JSON.stringify(answer.definitions, null, 2) : answer.detail;
  shown.hidden = false;
  losses.replaceChildren(...(response.ok ? report(answer.report) : []));
}

function report(findings) {
  if (findings.length === 0) return [item("calm", "complete", "Nothing is lost in this dialect.")];
  const looks = { note: "", loss: "warn", limit: "bad" };
  return findings.map(({ level, path, message, remedy }) =>
    item(looks[level] ?? "", level, `${path ? `${path}: ` : ""}${message} (${remedy})`));
}

function item(look, level, text) {
  const flag = document.createElement("span");
  flag.className = `flag ${look}`;
  flag.textContent = level;
  const made = document.createElement("li");
  made.append(flag, " ", text);
  return made;
}

function press(button) {
  group.querySelectorAll("button").forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
  return show();
}

group.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) press(button);
});
strict.addEventListener("change", show);
press(group.querySelector("button"));
