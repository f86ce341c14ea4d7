// The link that the console prints has the token behind a `#`, which a browser keeps to itself.

const form = document.getElementById("login");

function logIn() {
  const token = location.hash.slice(1);
  if (token === "") return;
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = token;
  form.requestSubmit();
}

addEventListener("hashchange", logIn);
logIn();
