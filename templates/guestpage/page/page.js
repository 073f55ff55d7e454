// Comments on lines of their own, and indentation, are not sent. The page works without this script.
(() => {
const $ = id => document.getElementById(id), main = document.querySelector('main'), link = $('link'), button = $('copy'), until = $('until');
// Numbers and times are written as in the visitor's own region, where the page is in their language.
const lang = document.documentElement.lang, region = navigator.languages.find(l => /^[\w-]+$/.test(l) && l.slice(0, 2) === lang.slice(0, 2)) || lang;
const latin = region + '-u-nu-latn', count = new Intl.NumberFormat(latin);
const group = root => {
  for (const element of root.querySelectorAll('.number')) element.textContent = element.textContent.replace(/\d+/g, n => count.format(n));
};
group(main);
if (until) until.textContent = new Date(until.dateTime).toLocaleString(latin, {weekday: 'long', day: 'numeric', month: 'long', hour: 'numeric', minute: '2-digit', timeZoneName: 'short'});

if (link) link.onfocus = () => link.select();
// Browsers have a clipboard over https and on localhost only.
if (button && navigator.clipboard) {
  button.hidden = false;
  button.onclick = async () => {
    await navigator.clipboard.writeText(link.value);
    $('copied').textContent = button.dataset.copied;
  };
}

// Whoever came for a page finds the part of it that its address named.
if (location.hash) {
  const fragment = encodeURIComponent(location.hash), to = text => /\?to=/.test(text) ? text + fragment : text;
  for (const form of document.forms) form.action = to(form.getAttribute('action'));
  for (const a of document.links) if (a.pathname.startsWith('/.fairdoor/')) a.href = to(a.getAttribute('href'));
  if (main.dataset.path) main.dataset.path = to(main.dataset.path);
}
// The challenge comes from elsewhere, and something may keep it away.
document.addEventListener('error', e => { if (e.target.src && $('blocked')) $('blocked').hidden = false; }, true);

// What has changed is put in place, so that nothing is lost of what the visitor does meanwhile.
const {refresh, path} = main.dataset;
let last = performance.now();
const look = async () => {
  last = performance.now();
  try {
    const answer = await fetch(path, {headers: {Accept: 'text/html'}, cache: 'no-store'});
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
    if (!answer.ok || !next) return;
    if (next.id !== main.id) return location.replace(path);
    group(next);
    for (const id of ['now', 'friends']) {
      const old = $(id), fresh = next.querySelector('#' + id);
      if (old && fresh && old.innerHTML !== fresh.innerHTML) old.innerHTML = fresh.innerHTML;
    }
  } catch (e) {}
};
if (refresh) {
  const due = () => !document.hidden && performance.now() - last > refresh * 990;
  setInterval(() => due() && look(), refresh * 1000);
  document.addEventListener('visibilitychange', () => due() && look());
}
})();
