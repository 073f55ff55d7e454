(() => {
const list = document.getElementById('places'), news = document.getElementById('news'), session = +list.dataset.session;
let places, seen, stopped;

const set = (element, text) => { if (element.textContent !== text) element.textContent = text; };
const names = () => new Set((places || []).map(p => p.name).filter(Boolean));

const paint = () => {
  while (list.children.length > places.length) list.lastChild.remove();
  places.forEach((place, i) => {
    let item = list.children[i];
    if (!item) {
      item = list.appendChild(document.createElement('li'));
      item.append(document.createElement('b'), ' ', document.createElement('span'));
    }
    const left = Math.max(0, place.left - Math.round((performance.now() - seen) / 1000)), silent = left < session - 4;
    item.classList.toggle('taken', !!place.name);
    item.style.setProperty('--light', place.name ? (silent ? left / session : 1) : 0);
    set(item.querySelector('b'), place.name || 'Free');
    set(item.querySelector('span'), !place.name ? '' : place.you ? 'you' : silent ? 'free in ' + left + ' s' : 'here');
  });
};

// Asking keeps the place. Whoever has lost it is told by the gate, as JSON, that they wait.
const ask = async () => {
  try {
    const answer = await fetch('/seats', {headers: {Accept: 'application/json'}, cache: 'no-store'});
    if (stopped) return;
    if (answer.status >= 500) throw answer.status;
    const told = answer.ok && await answer.json();
    if (!told || !told.places) return location.reload();
    const before = names(), first = !places;
    places = told.places;
    seen = performance.now();
    const after = names(), came = [...after].filter(n => !before.has(n)), left = [...before].filter(n => !after.has(n));
    if (!first && came.length + left.length) {
      set(news, came.map(n => n + ' came in.').concat(left.map(n => n + ' is gone.')).join(' '));
    }
    paint();
  } catch (e) {
    set(news, 'The demo does not answer. Is it still running?');
  }
  setTimeout(ask, 2000);
};

document.forms[0].onsubmit = () => { stopped = true; };
addEventListener('pageshow', e => { if (e.persisted) location.reload(); });
setInterval(() => places && paint(), 1000);
ask();
})();
