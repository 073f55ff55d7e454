// Comments on lines of their own, and indentation, are not sent.
(() => {
const $ = id => document.getElementById(id), main = document.querySelector('main'), say = main.dataset;
const wait = $('wait'), label = $('label'), note = $('note'), button = $('pause'), stamp = $('updated');
const title = document.title, latin = document.documentElement.lang + '-u-nu-latn', count = new Intl.NumberFormat(latin);
// The address without its fragment, and without a user name in it, which fetch would refuse.
const here = location.origin + location.pathname + location.search;
let interval = say.refresh * 1000, due = Infinity, timer, worker, flight, paused, held, lost, entered, reloading;

// Nothing is written that is already there: a screen reader would say it again.
const set = (element, text) => { if (element.textContent !== text) element.textContent = text; };
const show = (element, on) => { if (element.hidden === on) element.hidden = !on; };

const clock = () => set(stamp, new Date(stamp.dateTime).toLocaleTimeString(latin));
const tell = () => {
  set(note, entered ? say.turn : lost ? say.lost : paused ? say.paused : '');
  set(button, entered ? say.enter : paused ? say.resume : say.pause);
  button.classList.toggle('go', !!entered);
  show(button, !!interval);
  show($('stay'), !!interval && !paused);
  main.classList.toggle('live', !!interval && !paused);
  main.classList.toggle('closed', !interval);
  document.title = entered ? say.turn : (label.hidden ? '' : wait.textContent + ' · ') + title;
};

const stateOf = w => !w.refreshIntervalSeconds ? 'reject' : w.queueAll ? 'all' : w.queueIsFull ? 'full' : !w.waitTimeKnown ? 'unknown' :
  w.waitTime > 240 ? 'long' : w.waitTime75Percentile > w.waitTime25Percentile ? 'range' : w.waitTime > 59 ? 'hours' : w.waitTime ? 'minutes' : 'soon';
const paint = w => {
  const state = stateOf(w), known = /long|range|hours|minutes|soon/.test(state);
  const values = Object.assign({waitTimeHours: Math.floor(w.waitTime / 60), waitTimeHourMinutes: w.waitTime % 60}, w);
  set($('heading'), state === 'reject' ? say.rejectHeading : say.heading);
  show(label, known);
  wait.classList.toggle('number', known);
  // What is in brackets is left out while the variable in it is zero.
  set(wait, say[state].replace(/\[(.*\{(\w+)\}.*)\]/, (_, part, name) => values[name] ? part : '').replace(/\{(\w+)\}/g, (_, name) => values[name]));
  show($('line'), w.usersAheadKnown);
  set($('ahead'), count.format(w.usersAhead));
  stamp.dateTime = w.lastUpdated;
  clock();
};

// Timers of a hidden page are slowed down, those of a worker are not. Both are
// set; whichever comes first checks in, and the other finds nothing due.
const arm = () => {
  const left = Math.max(0, due - performance.now());
  clearTimeout(timer);
  if (left === Infinity) return;
  timer = setTimeout(tick, left);
  if (worker) worker.postMessage(left);
};
const tick = () => performance.now() < due ? arm() : poll();
const plan = ms => { due = performance.now() + ms; arm(); };
try {
  worker = new Worker(URL.createObjectURL(new Blob(['let t;onmessage=e=>{clearTimeout(t);t=setTimeout(postMessage,e.data,0)}'])));
  worker.onmessage = tick;
} catch (e) {}

// The room's JSON is short; an answer that is not, is the site's own.
const read = async answer => {
  if (!answer.body || !/^application\/json\b/i.test(answer.headers.get('content-type'))) return;
  const body = answer.body.getReader(), decoder = new TextDecoder();
  let text = '';
  for (let part; text.length < 9e3 && !(part = await body.read()).done;) text += decoder.decode(part.value, {stream: true});
  try {
    const room = JSON.parse(text).cfWaitingRoom;
    return room.inWaitingRoom === true && room;
  } catch (e) {}
};

// While updates are paused the check-ins go on, so that the place is kept.
const queued = (w, now) => {
  lost = false;
  interval = w.refreshIntervalSeconds * 1000;
  if (paused && interval) held = w;
  else paint(w);
  // By the server's clock alone. A check-in that came too early did not move lastUpdated.
  const left = Date.parse(w.lastUpdated) + interval - Date.parse(now);
  if (interval) plan(left > 0 && left < interval ? left : interval);
};
const enter = () => { reloading = true; location.reload(); };
const admitted = () => {
  lost = false;
  entered = true;
  if (!paused) enter();
};
const poll = async () => {
  due = Infinity;
  const abort = flight = new AbortController(), limit = setTimeout(() => abort.abort(), 30000);
  try {
    const answer = await fetch(here, {
      headers: {Accept: 'application/json', 'Anteroom-Visibility': document.hidden ? 'hidden' : 'visible'},
      credentials: 'same-origin', redirect: 'manual', cache: 'no-store', signal: abort.signal
    });
    const w = await read(answer);
    if (w) queued(w, answer.headers.get('date'));
    // Something between here and the site is out of order: reloading would only lose this page.
    else if (/^(429|502|503|504)$/.test(answer.status)) throw answer.status;
    else {
      abort.abort();
      admitted();
    }
  } catch (e) {
    if (flight !== abort) return;
    lost = true;
    plan(interval * (1 + Math.random() / 2));
  }
  clearTimeout(limit);
  if (flight === abort) flight = null;
  tell();
};
// Whoever looks at the page again is told at once. What a page had asked that the browser then stopped may never be answered.
const look = () => {
  if (flight) {
    due = 0;
    flight.abort();
    flight = null;
  }
  tick();
};

// A goodbye is sent when the next page is there. If that is this one again, its visitor has been taken for gone.
const goodbye = said => {
  try {
    const before = sessionStorage.anteroom;
    sessionStorage.anteroom = said;
    return before;
  } catch (e) {}
};

button.onclick = () => {
  if (entered) return enter();
  paused = !paused;
  if (held) paint(held);
  held = null;
  tell();
};
document.addEventListener('visibilitychange', () => document.hidden || look());
addEventListener('pagehide', () => {
  if (reloading || !interval) return;
  goodbye(1);
  navigator.sendBeacon('/.anteroom/leave');
});
addEventListener('pageshow', e => { if (e.persisted) look(due = 0); });

clock();
set($('ahead'), count.format($('ahead').textContent));
tell();
if (interval) plan(goodbye('') ? 500 : interval);
})();
