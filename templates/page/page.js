// Comments on lines of their own, and indentation, are not sent.
(() => {
const $ = id => document.getElementById(id), main = document.querySelector('main'), say = main.dataset;
const wait = $('wait'), label = $('label'), note = $('note'), button = $('pause'), stamp = $('updated');
const title = document.title, latin = document.documentElement.lang + '-u-nu-latn', count = new Intl.NumberFormat(latin);
// The address without its fragment, and without a user name in it, which fetch would refuse.
const here = location.origin + location.pathname + location.search;
let interval = say.refresh * 1000, due = Infinity, next = due, timer, worker, flight, stream, deaf, last, paused, lost, entered, reloading;

// Nothing is written that is already there: a screen reader would say it again.
const set = (element, text) => { if (element.textContent !== text) element.textContent = text; };
const show = (element, on) => { if (element.hidden === on) element.hidden = !on; };

// Only English has ordinals here: the others say "7 of 412" in words of their own.
const ordinal = n => ({one: 'st', two: 'nd', few: 'rd'})[new Intl.PluralRules('en', {type: 'ordinal'}).select(n)] || 'th';
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

const stateOf = w => !w.refreshIntervalSeconds ? 'reject' : w.admissionsPaused ? 'all' : w.queueIsFull ? 'full' : !w.waitTimeKnown ? 'unknown' :
  w.waitTime > 240 ? 'long' : w.waitTime75Percentile > w.waitTime25Percentile ? 'range' : w.waitTime > 59 ? 'hours' : w.waitTime > 1 ? 'minutes' : 'soon';
const paint = w => {
  const state = stateOf(w), known = /long|range|hours|minutes|soon/.test(state);
  const values = Object.assign({waitTimeHours: Math.floor(w.waitTime / 60), waitTimeHourMinutes: w.waitTime % 60}, w);
  set($('heading'), state === 'reject' ? say.rejectHeading : say.heading);
  show(label, known);
  wait.classList.toggle('number', known);
  // What is in brackets is left out while the variable in it is zero.
  set(wait, say[state].replace(/\[(.*\{(\w+)\}.*)\]/, (_, part, name) => values[name] ? part : '').replace(/\{(\w+)\}/g, (_, name) => values[name]));
  show($('place'), !!w.position);
  set($('position'), say[w.positionKnown ? 'exact' : 'about'].replace(/\{(\w+?)(Ordinal)?\}/g, (_, name, which) => count.format(w[name]) + (which ? ordinal(w[name]) : '')));
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
const keep = w => {
  last = w;
  if (!paused || !interval) paint(w);
};
const queued = (w, now) => {
  lost = false;
  interval = w.refreshIntervalSeconds * 1000;
  keep(w);
  // By the server's clock alone. A check-in that came too early did not move lastUpdated.
  const left = Date.parse(w.lastUpdated) + interval - Date.parse(now);
  next = performance.now() + (performance.now() < wary ? 1500 : left > 0 && left < interval ? left : interval);
  rest();
  listen();
};
// Where events come, they make the check-ins; one is made now and then all the same, as a connection may be gone without a word.
const rest = (wait = 0) => {
  const left = next - performance.now(), open = stream && stream.readyState === 1 && performance.now() > wary;
  if (interval && !entered && !flight) plan(Math.max(left, open ? 2 * interval : wait));
};
// From what all are told alike each works out a place of their own. In an exact line that counts some who have left, so it is
// never better than the true one; and what was told before is not taken back.
// In fifo, whoever came between two moments of the list is between their places, too.
const between = (list, at) => {
  const next = list.findIndex(b => Date.parse(b.key) > at), b = list[next], a = list[next - 1] || b;
  if (!b) return {};
  const from = Date.parse(a.key), part = (at - from) / (Date.parse(b.key) - from) || 0, mix = name => Math.ceil(a[name] + part * (b[name] - a[name]));
  return {usersAhead: mix('usersAhead'), waitTimeKnown: a.waitTimeKnown, waitTime: mix('waitTime')};
};
const move = n => {
  if (!last || n.lastWaitingNumber < last.ticketNumber) return;
  const w = Object.assign({}, last, n, between(n.buckets || [], Date.parse(last.arrivedAt)));
  if (w.isLineQueue) {
    const line = w.ticketNumber < w.firstWaitingNumber ? w.usersAhead : w.usersPreferred + w.ticketNumber - w.firstWaitingNumber;
    const ahead = Math.max(0, Math.min(line, w.usersQueued - 1));
    if (ahead < w.usersAhead) Object.assign(w, {usersAhead: ahead, position: ahead + 1, positionKnown: false});
  } else if (w.usersAheadKnown) w.position = w.usersAhead + 1;
  w.usersQueued = Math.max(w.usersQueued, w.position);
  keep(w);
};
const hush = () => {
  if (stream) stream.close();
  stream = null;
};
const listen = () => {
  if (stream || deaf || entered || !interval || !window.EventSource) return;
  let heard;
  const source = stream = new EventSource('/.anteroom/events?room=' + encodeURIComponent(say.room));
  const on = (event, act) => source.addEventListener(event, e => {
    heard = true;
    lost = false;
    act(e.data && JSON.parse(e.data));
    rest();
    tell();
  });
  on('open', () => {});
  on('place', w => queued(w, w.lastUpdated));
  on('numbers', move);
  on('admitted', admitted);
  on('closed', () => {
    hush();
    look(due = 0);
  });
  // The browser connects again by itself, unless it was told not to. Meanwhile check-ins go on, not all at once.
  source.onerror = () => {
    if (source !== stream) return;
    if (source.readyState === 2) {
      stream = null;
      deaf = !heard;
    }
    rest(1000 + Math.random() * interval / 4);
  };
};
const enter = () => { reloading = true; location.reload(); };
const admitted = () => {
  lost = false;
  entered = true;
  due = Infinity;
  hush();
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
    next = performance.now() + interval * (1 + Math.random() / 2);
  }
  clearTimeout(limit);
  if (flight === abort) {
    flight = null;
    rest();
  }
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

// A goodbye is sent when the next page is there. If that is this one again, its visitor is taken for gone until they check in;
// and it may be a while on its way, so that they do so several times.
let wary = 0;
const goodbye = said => {
  try {
    const before = sessionStorage.anteroom;
    sessionStorage.anteroom = said;
    return before;
  } catch (e) {}
};

// The other tabs of the room in this browser: only the last one says goodbye. If one has gone without a word, none does, and
// the place is kept until a check-in is missed. Tabs say 2 when they come, for which the others say 1, and 0 when they go.
const me = Math.random(), others = new Set();
let channel;
const meet = () => {
  others.clear();
  try {
    channel = new BroadcastChannel('anteroom ' + say.room);
    channel.onmessage = ({data: [who, word]}) => {
      others[word ? 'add' : 'delete'](who);
      if (word > 1) channel.postMessage([me, 1]);
    };
    channel.postMessage([me, 2]);
  } catch (e) {}
};
const part = () => {
  if (!channel) return;
  channel.postMessage([me, 0]);
  channel.close();
};

button.onclick = () => {
  if (entered) return enter();
  paused = !paused;
  if (last) paint(last);
  tell();
};
document.addEventListener('visibilitychange', () => document.hidden || look());
addEventListener('pagehide', () => {
  hush();
  part();
  if (reloading || !interval || others.size) return;
  goodbye(1);
  navigator.sendBeacon('/.anteroom/leave');
});
addEventListener('pageshow', e => {
  if (!e.persisted) return;
  meet();
  wary = performance.now() + 5000;
  look(due = 0);
});

meet();
clock();
for (const id of ['ahead', 'position']) set($(id), $(id).textContent.replace(/\d+/g, n => count.format(n)));
tell();
const back = goodbye('');
if (back) wary = performance.now() + 5000;
next = performance.now() + (back ? 500 : interval);
rest();
// Whoever is back listens once that check-in has told of it: the goodbye may come after the stream.
if (!back) listen();
})();
