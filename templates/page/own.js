// A page of the room's own: when there is news, what differs in the page as it is rendered now is put in place.
(() => {
let told;
// The script's own parts stay as they are.
const stays = node => /^(fairdoor|note|pause|by|open|way|alert|call|called)$/.test(node.id) || /^(SCRIPT|NOSCRIPT)$/.test(node.nodeName);
const parts = node => [...node.childNodes].filter(child => !stays(child));
const same = (a, b) => a.nodeName === b.nodeName && a.id === b.id;
const redraw = (now, next) => {
  if (now.isEqualNode(next)) return;
  if (now.nodeType !== 1) return now.nodeValue = next.nodeValue;
  for (const {name} of [...now.attributes]) if (!next.hasAttribute(name)) now.removeAttribute(name);
  for (const {name, value} of next.attributes) if (now.getAttribute(name) !== value) now.setAttribute(name, value);
  const old = parts(now), fresh = parts(next);
  if (old.length === fresh.length && old.every((node, i) => same(node, fresh[i]))) return old.forEach((node, i) => redraw(node, fresh[i]));
  const before = [...now.childNodes].find(stays) || null;
  old.forEach(node => node.remove());
  fresh.forEach(node => now.insertBefore(node, before));
};
document.addEventListener('fairdoor', async ({detail}) => {
  if (told === detail.lastUpdated) return;
  told = detail.lastUpdated;
  try {
    const answer = await fetch(location.pathname + location.search, {headers: {Accept: 'text/html', 'Fairdoor-Returning': '1', 'Fairdoor-Visibility': document.hidden ? 'hidden' : 'visible'}, redirect: 'manual', cache: 'no-store'});
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (!page.getElementById('fairdoor')) return;
    document.title = page.title;
    redraw(document.body, page.body);
  } catch (e) {}
});
})();
