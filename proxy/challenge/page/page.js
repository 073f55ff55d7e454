(() => {
const $ = (id) => document.getElementById(id), page = $("challenge").dataset;
// The page is asked for again, with the fragment of its address. With one, to go to the address where one is would only scroll.
const on = () => location.hash && page.address === location.pathname + location.search ? location.reload() : location.replace(page.address + location.hash);
// The widget calls this with the visitor's answer. If it is right, the page that was asked for has the place in line.
window.fairdoorAnswered = async (token) => {
  const answer = await fetch(page.to, { method: "POST", body: new URLSearchParams({ response: token }) }).catch(() => 0);
  if (answer && answer.ok) return on();
  $("later").textContent = page.later;
  setTimeout(on, 5000 + 5000 * Math.random());
};
// Something may keep the widget away, or it shows nothing.
const blocked = () => {
  $("blocked").hidden = $("again").hidden = false;
  $("widget").style.minHeight = 0;
};
const late = setTimeout(() => $("widget").childElementCount || blocked(), 15000);
document.addEventListener("error", (e) => {
  if (!e.target.src) return;
  clearTimeout(late);
  blocked();
}, true);
$("again").onclick = (e) => {
  e.preventDefault();
  on();
};
})();
