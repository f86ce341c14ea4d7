(() => {
  const search = document.getElementById("search");
  const none = document.getElementById("none");
  const articles = [...document.querySelectorAll("article")];
  const links = new Map([...document.querySelectorAll("nav li")].map((item) => [item.dataset.tool, item]));
  const texts = articles.map((article) => article.textContent.toLowerCase());
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    articles.forEach((article, index) => {
      const fits = words.every((word) => texts[index].includes(word));
      article.hidden = !fits;
      links.get(article.dataset.tool).hidden = !fits;
      shown += fits;
    });
    none.hidden = shown > 0 || words.length === 0;
  };
  search.hidden = false;
  search.addEventListener("input", filter);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      filter();
    }
  });
  filter();
})();
