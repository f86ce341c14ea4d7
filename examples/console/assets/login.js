// The link that the console prints has the token behind a `#`, which a browser keeps to itself.

const form = document.getElementById("login");
const token = decodeURIComponent(location.hash.slice(1));
if (token) {
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = token;
  form.requestSubmit();
}
