// Comments on lines of their own, and indentation, are not sent.
(() => {
// A page of one's own may lack any of the elements.
const $ = id => document.getElementById(id) || document.createElement('p'), main = document.querySelector('main') || document.body;
const say = Object.assign({}, ...['fairdoor', 'calls', 'updated'].map(id => $(id).dataset)), wait = $('wait'), label = $('label'), note = $('note'), button = $('pause'), stamp = $('updated'), by = $('by');
// A page of one's own may have one button for both.
const enters = document.getElementById('enter') || button, ask = $('tell');
const title = document.title, name = 'fairdoor ' + say.room, query = '?room=' + encodeURIComponent(say.room);
// Numbers and times are written as in the visitor's own region, where the page is in their language.
const lang = document.documentElement.lang || 'en', region = navigator.languages.find(l => /^[\w-]+$/.test(l) && l.slice(0, 2) === lang.slice(0, 2)) || lang;
const latin = region + '-u-nu-latn', count = new Intl.NumberFormat(latin);
// The address without its fragment, and without a user name in it, which fetch would refuse.
const here = location.origin + location.pathname + location.search;
// The monotonic clock stands still while some devices sleep, and the other one may be set back.
const zero = Date.now() - performance.now(), now = () => Math.max(performance.now(), Date.now() - zero);
let interval = say.refresh * 1000, due = Infinity, next = due, timer, worker, flight, last, paused, lost, failing, offline, entered, reloading, cookie, stream, far = !!say.far, newsAt = now(), askedAt = newsAt, missed = 0;

// Nothing is written that is already there: a screen reader would say it again.
const set = (element, text) => { if (element.textContent !== text) element.textContent = text; };
const show = (element, on) => { if (element.hidden === on) element.hidden = !on; };

// Only English has ordinals here: the others say "7 of 412" in words of their own.
const ordinal = n => ({one: 'st', two: 'nd', few: 'rd'})[new Intl.PluralRules('en', {type: 'ordinal'}).select(n)] || 'th';
const clock = () => set(stamp, new Date(stamp.dateTime).toLocaleTimeString(latin));
const at = (text, time) => text.replace('{time}', new Date(time).toLocaleTimeString(latin, {timeStyle: 'short'}));

// The slot that is kept for a visitor who does not look; the turn that has come.
const kept = () => last && last.claimRequired && last.claimUntil;
const turn = () => entered ? say.turn : kept() ? at(say.kept, kept()) : '';
const trouble = () => failing ? say.failing : offline && last && last.placeKeptSeconds ?
  at(say.offline, Date.parse(last.lastUpdated) + last.placeKeptSeconds * 1000) : lost || offline ? say.lost : paused ? say.paused : '';
let told = '';
const tell = () => {
  const called = turn();
  set(note, entered ? called : trouble());
  set(button, called && enters === button ? say.enter : paused ? say.resume : say.pause);
  enters.classList.toggle('go', !!called);
  const waits = !!interval && cookie !== false;
  show(button, waits);
  if (enters !== button) show(enters, !!called);
  show(ask, waits && !called && !document.body.dataset.called);
  show($('more'), waits);
  show($('stay'), waits && !paused);
  main.classList.toggle('live', !!interval && !paused);
  main.classList.toggle('closed', !interval);
  if (!told !== !called) called ? call(called) : hangUp();
  told = called;
  document.title = called && document.hidden ? called.replace(/[.。।]$/, '') + ' – ' + title : (document.body.dataset.title || '') + (label.hidden || !wait.textContent ? '' : wait.textContent + ' · ') + title;
};

// Before an event starts, the page tells when it does, in the words for a wait.
const counts = w => w.isEventPrequeueing && !w.queueAll && !w.isHeld && !w.soldOut && !w.claimRequired;
const lasting = minutes => minutes > 59 ? 'hours' : minutes > 1 ? 'minutes' : 'soon';
const stateOf = w => w.soldOut ? 'soldOut' : !w.refreshIntervalSeconds ? 'reject' : w.isHeld ? 'onHold' : counts(w) ? lasting(w.timeUntilEventStart) : w.admissionsPaused ? w.pausedBy === 'site' ? 'siteDown' : 'all' : w.queueIsFull ? 'full' : !w.waitTimeKnown ? 'unknown' :
  w.waitTime > 240 ? 'long' : w.waitTime75Percentile > w.waitTime25Percentile ? 'range' : lasting(w.waitTime);
// A check-in that came too early did not move lastUpdated. By the server's clock it is now that and what has passed since.
const toldAt = w => Date.parse(w.lastUpdated) + (w.refreshIntervalSeconds - w.refreshLeftSeconds) * 1000;
// By when one is in, or since when nobody is let in, as the clock of the visitor has it.
const when = (w, state) => {
  const time = toldAt(w) + (w.waitTime75Percentile || w.waitTime) * 60000;
  const text = /all|Down/.test(state) ? w.pausedSince && at(say.since, w.pausedSince) : !counts(w) && /range|hours|minutes|soon/.test(state) && at(say.by, time);
  show(by, !!text);
  if (text) set(by, text);
  advance(w);
};
// What there is to buy: it is written anew only if it is something else.
let offered;
const make = (name, ...parts) => {
  const element = document.createElement(name);
  element.append(...parts);
  return element;
};
const offer = items => {
  const list = $('goods'), text = JSON.stringify(items);
  show(list, !!items[0]);
  if (offered === text) return;
  offered = text;
  list.replaceChildren(...items.map(i => make('div', make('dt', make('bdi', i.name), i.price ? ' · ' : '', make('bdi', i.price || '')),
    make('dd', i.soldOut ? say.soldOutWord : i.left == null ? '' : $('items').firstChild.textContent + ': ' + count.format(i.left)))));
};
// What is in brackets is left out while the variable in it is zero.
const write = w => {
  const waitTime = counts(w) ? w.timeUntilEventStart : w.waitTime, values = {...w, waitTime, waitTimeHours: Math.floor(waitTime / 60), waitTimeHourMinutes: waitTime % 60};
  set(wait, w.claimRequired ? turn() : say[stateOf(w)].replace(/\[(.*\{(\w+)\}.*)\]/, (_, part, name) => values[name] ? part : '').replace(/\{(\w+)\}/g, (_, name) => values[name]));
};
// Who asks rarely sees their wait go down meanwhile, until it is time to ask again: not to the last minute, which only the gate
// tells, nor where every check-in is a draw. A stream that says nothing says that what it has told is still so.
const countDown = () => {
  const w = last || first, shown = wait.textContent;
  if (stream || paused || label.hidden || w.waitTime75Percentile || !(w.waitTime > 2)) return;
  const then = {...w, waitTime: Math.max(2, w.waitTime - Math.floor(Math.min(now() - newsAt, interval) / 60000))};
  write(then);
  if (wait.textContent === shown) return;
  advance(then);
  tell();
};
const paint = w => {
  const state = w.claimRequired ? 'kept' : stateOf(w), known = /long|range|hours|minutes|soon/.test(state);
  set($('heading'), say[state + 'Heading'] || say.heading);
  show(label, known && !counts(w));
  show($('starts'), !!counts(w));
  show($('shuffled'), !!(counts(w) && w.shuffleEntry));
  show($('draw'), !!w.shuffleEntry);
  set($('entry'), w.shuffleEntry);
  set($('hash'), w.shuffleSeedHash);
  show($('keeps'), /all|Down/.test(state));
  wait.classList.toggle('number', known);
  wait.classList.toggle('unknown', state === 'unknown');
  write(w);
  show($('place'), !!w.position && !w.claimRequired);
  set($('position'), say[w.positionKnown ? 'exact' : 'about'].replace(/\{(\w+?)(Ordinal)?\}/g, (_, name, which) => count.format(w[name]) + (which ? ordinal(w[name]) : '')));
  show($('line'), w.usersAheadKnown && !w.claimRequired);
  set($('ahead'), count.format(w.usersAhead));
  const items = w.items || [];
  show($('items'), w.itemsLeftKnown && !items[0]);
  set($('left'), count.format(w.itemsLeft));
  offer(items);
  when(w, state);
  if (w.rejoined || !w.refreshIntervalSeconds || w.isHeld) show($('rejoined'), w.rejoined);
  if (w.message != null) {
    set($('message'), w.message);
    show($('message'), !!w.message);
  }
  stamp.dateTime = w.lastUpdated;
  clock();
  document.dispatchEvent(new CustomEvent('fairdoor', {detail: w}));
  countDown();
};

// Pages may have no storage.
const recall = (store, key) => {
  try {
    return window[store][key];
  } catch (e) {}
};
const store = (store, key, value) => {
  try {
    window[store][key] = value;
  } catch (e) {}
};

// The bar goes from where the visitor began to the door: by their place, or by time where only the wait is known.
const advance = w => {
  const bar = $('way'), key = name + ' way', told = toldAt(w);
  let [from, since] = JSON.parse(recall('sessionStorage', key) || '[0,0]');
  if (!since || w.usersAhead > from) store('sessionStorage', key, JSON.stringify([from = w.usersAhead, since = told]));
  const placed = w.usersAheadKnown && from > 0, left = w.waitTime * 60000;
  show(bar, (placed || w.waitTimeKnown) && !w.claimRequired && !w.admissionsPaused);
  bar.value = placed ? 1 - w.usersAhead / from : (told - since) / (told - since + left) || 0;
  bar.setAttribute('aria-label', (placed ? $('place').firstElementChild || label : label).textContent);
  bar.setAttribute('aria-valuetext', (placed ? $('position') : wait).textContent);
};

// What calls the visitor when their turn has come, if they asked for it. Browsers allow sound to pages that were clicked on.
// One button asks for it: it does what the browser can, and says what. Where the room calls its visitors, the other script goes on from here.
let audio, notice, asked = recall('localStorage', 'fairdoor tell') === '1';
const ring = () => {
  if (!audio || !asked) return;
  const tone = audio.createOscillator(), volume = audio.createGain(), start = audio.currentTime;
  tone.frequency.setValueAtTime(587, start);
  tone.frequency.setValueAtTime(880, start + .2);
  volume.gain.setValueAtTime(.2, start);
  volume.gain.exponentialRampToValueAtTime(.001, start + .8);
  tone.connect(volume).connect(audio.destination);
  tone.start(start);
  tone.stop(start + .8);
};
const shows = () => asked && window.Notification && isSecureContext && Notification.permission === 'granted';
const call = text => {
  if (!document.hidden && document.hasFocus()) return;
  ring();
  if (shows()) {
    try {
      notice = new Notification(title, {body: text, tag: name});
      notice.onclick = () => { focus(); };
    } catch (e) {}
  }
};
const hangUp = () => {
  if (notice) notice.close();
  notice = null;
};
const calls = !!say.callKey && !!window.PushManager;
const promise = () => {
  ask.ariaPressed = asked;
  if (!calls) set($('called'), !asked ? '' : shows() ? say.tellNotify : say.tellSound);
};
ask.onclick = async () => {
  asked = calls || !asked;
  store('localStorage', 'fairdoor tell', asked ? '1' : '');
  setTimeout(ring);
  promise();
  if (asked && window.Notification) await Notification.requestPermission();
  promise();
};
addEventListener('click', () => {
  if (!audio && asked && window.AudioContext) audio = new AudioContext();
});

// Timers of a hidden page are slowed down, those of a worker are not. Both are
// set; whichever comes first checks in, and the other finds nothing due.
const arm = () => {
  const left = Math.max(0, due - now());
  clearTimeout(timer);
  if (left === Infinity) return;
  timer = setTimeout(tick, left);
  if (worker) worker.postMessage(left);
};
const tick = () => now() < due ? arm() : entered ? watch() : poll();
const plan = ms => { due = now() + ms; arm(); };
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
    return typeof room.inWaitingRoom === 'boolean' && room;
  } catch (e) {}
};

// While updates are paused the check-ins go on, so that the place is kept.
const keep = w => {
  last = w;
  newsAt = now();
  if (!paused || !interval || !wait.textContent) paint(w);
};
const queued = w => {
  lost = failing = false;
  cookie = true;
  missed = 0;
  far = w.isFar;
  show($('open'), false);
  interval = w.refreshIntervalSeconds * 1000;
  keep(w);
  const left = w.refreshLeftSeconds * 1000, claim = Date.parse(kept()) - toldAt(w);
  next = now() + (now() < wary ? 1500 : claim > 0 ? Math.min(claim + 1000, left) : left);
  if (kept() && !document.hidden && !paused) return enter();
  rest();
  lead();
};
const bare = text => {
  for (const id of ['label', 'starts', 'shuffled', 'draw', 'place', 'line', 'by', 'way']) show($(id), false);
  wait.classList.remove('number', 'unknown');
  set(wait, text);
};
// The answers come without the cookie that they set: each of them would be for somebody new. If it was there before, it has been deleted.
const strange = () => {
  if (cookie) return enter();
  cookie = lost = failing = false;
  bare(say.cookies);
  show($('open'), true);
  askedAt = next = now() + interval;
};
// Where events come, they make the check-ins; one is made now and then all the same, as a connection may be gone without a word.
const rest = (wait = 0) => {
  const left = next - now(), open = (stream ? stream.readyState === 1 : now() < heard + 2 * interval) && now() > wary;
  if (interval && !entered && !flight) plan(open && !kept() ? Math.max(left, 2 * interval) : left > 0 ? left : wait);
};
// From what all are told alike each works out a place of their own. In an exact line that counts some who have left, so it is
// never better than the true one; and what was told before is not taken back.
// In fifo, whoever came between two moments of the list is between their places, too.
const between = (list, at) => {
  const next = list.findIndex(b => Date.parse(b.key) > at), b = list[next], a = list[next - 1] || b;
  if (!b) return {};
  const from = Date.parse(a.key), part = a === b ? 0 : (at - from) / (Date.parse(b.key) - from), mix = name => Math.ceil(a[name] + part * (b[name] - a[name]));
  return {usersAhead: mix('usersAhead'), waitTimeKnown: a.waitTimeKnown && b.waitTimeKnown, waitTime: mix('waitTime')};
};
const move = n => {
  if (!last || n.lastWaitingNumber < last.ticketNumber) return;
  // Whoever was told before a shuffled start knows no place until the next check-in.
  const w = {...last, items: [], refreshLeftSeconds: last.refreshIntervalSeconds, ...n, ...last.placedAt !== '' && between(n.buckets || [], Date.parse(last.placedAt || last.arrivedAt))};
  if (w.isLineQueue) {
    const line = w.ticketNumber < w.firstWaitingNumber ? w.usersAhead : w.usersPreferred + w.ticketNumber - w.firstWaitingNumber;
    const ahead = Math.max(0, Math.min(line, w.usersQueued - 1));
    if (ahead < w.usersAhead) Object.assign(w, {usersAhead: ahead, position: ahead + 1, positionKnown: false});
  } else if (w.usersAheadKnown) w.position = w.usersAhead + 1;
  w.usersQueued = Math.max(w.usersQueued, w.position);
  keep(w);
};

// One stream is for all tabs of the room in this browser: the tab that leads has it, and what a tab is told it tells the
// others. Without locks each leads. A stream's visitor is let in at once, so that nobody listens who has to look first. Nor
// does who is far, until a check-in tells that they are so no longer.
let leads, free, asking, heard = -Infinity, tries = 0, deafUntil = 0;
const hush = () => {
  if (stream) stream.close();
  stream = null;
};
const lead = () => {
  if (leads) return listen();
  if (asking || !interval || document.hidden && last && last.claimWithinSeconds) return;
  asking = new AbortController();
  const first = () => {
    leads = true;
    listen();
  };
  if (!navigator.locks) return first();
  navigator.locks.request(name, {signal: asking.signal}, () => new Promise(resolve => {
    free = resolve;
    first();
  })).catch(e => { if (e.name !== 'AbortError') first(); });
};
const follow = () => {
  hush();
  heard = -Infinity;
  if (free) free();
  else if (asking) asking.abort();
  leads = free = asking = null;
};
const heed = {
  open: () => {},
  place: w => queued(w),
  numbers: move,
  admitted: () => admitted(),
  // All are told at once, and do not ask at once.
  closed: () => {
    hush();
    heard = -Infinity;
    next = now() + 400 * Math.random();
  }
};
const hear = (event, data) => {
  heard = now();
  lost = false;
  heed[event](data);
  rest();
  tell();
};
const backOff = (tries, begin = 2000) => Math.min(begin * 2 ** tries, interval * .8) * (.25 + Math.random());
const listen = () => {
  if (stream || far || entered || !interval || !window.EventSource || now() < deafUntil) return;
  const source = stream = new EventSource('/.fairdoor/events' + query), since = now();
  let opened;
  for (const event in heed) source.addEventListener(event, e => {
    opened = true;
    const data = e.data && JSON.parse(e.data);
    share(event, data);
    hear(event, data);
  });
  // It is opened again ever more rarely, but once an interval at least, not by all at once. Meanwhile check-ins go on.
  source.onerror = () => {
    if (source !== stream) return;
    hush();
    heard = -Infinity;
    tries = now() - since > interval ? 0 : tries + 1;
    const pause = backOff(tries);
    deafUntil = now() + pause;
    setTimeout(() => leads && listen(), pause + 1);
    if (opened) rest(1000 + Math.random() * interval / 4);
  };
};

const enter = () => { reloading = true; location.reload(); };
const admitted = () => {
  if (entered) return;
  lost = failing = false;
  entered = true;
  due = Infinity;
  follow();
  if (paused) {
    bare();
    return plan(interval);
  }
  const unseen = document.hidden || !document.hasFocus();
  setTimeout(enter, unseen && audio && asked ? 900 : 0);
};
const get = (address, headers, signal) => fetch(address, {headers, credentials: 'same-origin', redirect: 'manual', cache: 'no-store', signal});
// Whether the visitor is in. To ask changes nothing.
const active = async () => {
  try {
    return (await (await get('/.fairdoor/session' + query, {Accept: 'application/json'})).json()).rooms[0].status === 'active';
  } catch (e) {}
};
// A turn that nobody takes is over some time.
const watch = async () => {
  due = Infinity;
  if (await active() === false) {
    entered = false;
    due = 0;
    tick();
  } else plan(interval);
  tell();
};
const poll = async () => {
  due = Infinity;
  askedAt = now();
  const abort = flight = new AbortController(), limit = setTimeout(() => abort.abort(), 30000);
  try {
    const answer = await get(here, {Accept: 'application/json', 'Fairdoor-Returning': '1', 'Fairdoor-Visibility': document.hidden ? 'hidden' : 'visible'}, abort.signal);
    const w = await read(answer);
    if (w && w.cookieMissing) strange();
    else if (w && w.inWaitingRoom) {
      queued(w);
      share('place', w);
    }
    // The site, or something between here and it, is out of order: reloading would only lose this page. If the gate says that nobody
    // waits, a proxy that asks the gate may have sent it with such a status.
    else if (!w && /^(429|502|503|504)$/.test(answer.status)) {
      failing = await active();
      throw answer.status;
    } else {
      abort.abort();
      admitted();
      // The others ask for themselves.
      share('closed');
    }
  } catch (e) {
    if (flight !== abort) return;
    lost = true;
    // What limits requests is not asked sooner for it, and what says that it is too busy not at once.
    next = now() + (e === 429 ? interval * (1 + Math.random() / 2) : backOff(missed++, e > 502 ? interval / 8 : 2000));
    if (e === 429) askedAt = next;
  }
  clearTimeout(limit);
  if (flight === abort) {
    flight = null;
    rest();
  }
  tell();
};
// Whoever looks at the page again is told at once, if some of the interval has passed since it had news, or asked. What a page had asked that the
// browser then stopped may never be answered.
const look = () => {
  if (flight) {
    due = 0;
    flight.abort();
    flight = null;
  }
  due = Math.min(due, stream || now() - Math.max(newsAt, askedAt) < interval / 4 ? next : 0);
  tick();
};

// A goodbye is sent when the next page is there. If that is this one again, its visitor is taken for gone until they check in;
// and it may be a while on its way, so that they do so several times.
let wary = 0;
const goodbye = said => {
  const before = recall('sessionStorage', 'fairdoor');
  store('sessionStorage', 'fairdoor', said);
  return before;
};

// The other tabs of the room in this browser: only the last one says goodbye. If one has gone without a word, none does, and
// the place is kept until a check-in is missed. Tabs say 2 when they come, for which the others say 1, 0 when they go, and 3
// with what they are told.
const me = Math.random(), others = new Set();
let channel;
const meet = () => {
  others.clear();
  try {
    channel = new BroadcastChannel(name);
    channel.onmessage = ({data: [who, word, event, data]}) => {
      others[word ? 'add' : 'delete'](who);
      if (word === 2) {
        channel.postMessage([me, 1]);
        if (leads && last) share('place', last);
      }
      if (word === 3 && !entered) hear(event, data);
    };
    channel.postMessage([me, 2]);
  } catch (e) {}
};
const share = (event, data) => { if (channel && others.size) channel.postMessage([me, 3, event, data]); };
const part = () => {
  if (!channel) return;
  channel.postMessage([me, 0]);
  channel.close();
};

enters.onclick = enter;
button.onclick = () => {
  if (turn() && enters === button) return enter();
  paused = !paused;
  if (last) paint(last);
  tell();
};
document.addEventListener('visibilitychange', () => {
  if (document.hidden) {
    if (last && last.claimWithinSeconds) follow();
    return rest();
  }
  if (kept() && !paused) return enter();
  lead();
  look();
  tell();
});
// All who lost the same network would come back at once.
addEventListener('online', () => {
  offline = false;
  tries = deafUntil = missed = 0;
  hush();
  if (!entered) plan(Math.random() * Math.min(interval / 4, 5000));
  tell();
});
addEventListener('offline', () => {
  offline = true;
  tell();
});
addEventListener('pagehide', () => {
  follow();
  part();
  if (reloading || !interval || others.size || document.body.dataset.called) return;
  goodbye(1);
  navigator.sendBeacon('/.fairdoor/leave');
});
addEventListener('pageshow', e => {
  if (!e.persisted) return;
  meet();
  wary = now() + 5000;
  look(due = 0);
});

meet();
clock();
promise();
// What only the script can tell is there at once, so that nothing moves when the first news comes.
const first = {lastUpdated: stamp.dateTime, usersAheadKnown: !$('line').hidden, usersAhead: +$('ahead').textContent, waitTimeKnown: !label.hidden, waitTime: +say.wait, waitTime75Percentile: +say.most,
  isEventPrequeueing: !$('starts').hidden, admissionsPaused: !$('keeps').hidden, pausedSince: say.pausedSince, refreshIntervalSeconds: +say.refresh, refreshLeftSeconds: +say.left};
if (interval) when(first, stateOf(first));
// Another device goes on to the same page, with its fragment.
const carry = document.querySelector('#carry a');
if (carry) carry.onclick = () => { carry.search = query + '&to=' + encodeURIComponent(location.pathname + location.search + location.hash); };
for (const id of ['ahead', 'position']) set($(id), $(id).textContent.replace(/\d+/g, n => count.format(n)));
offline = navigator.onLine === false;
tell();
setInterval(countDown, 1000);
const back = goodbye('');
if (back) wary = now() + 5000;
next = now() + (back ? 500 : say.left * 1000);
rest();
// Whoever is back listens once that check-in has told of it: the goodbye may come after the stream.
if (!back) lead();
})();
