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
