// Comments on lines of their own, and indentation, are not sent.
(() => {
// Who waits in this page, by host and room: the first asks, and the others do when the first is done.
const lines = {};
// The first request to each host goes alone: others would each get a place of their own, as they bring no cookie yet.
const met = {};

const pause = (me, signal, ms) => new Promise((resolve, reject) => {
  const timer = ms < Infinity && setTimeout(resolve, ms);
  me.wake = resolve;
  signal.onabort = () => {
    clearTimeout(timer);
    reject(signal.reason);
  };
  if (signal.aborted) signal.onabort();
});

// While it waits, a request is a GET: nothing else takes a place, or the slot when it is there.
const asking = (request, get) => {
  const {url, credentials, mode, signal} = request, headers = new Headers(request.headers);
  if (new URL(url).host === location.host) headers.set('Fairdoor-Visibility', document.visibilityState);
  return get ? new Request(request, {headers}) : new Request(url, {headers, credentials, mode, signal});
};

const inLine = async (input, init) => {
  const request = new Request(input, init), {signal, method, url} = request, get = method === 'GET', {host} = new URL(url), first = met[host];
  const me = {told: init?.onUpdate || (() => {}), wake() {}, met() {}};
  let line, tries = 0;
  const leave = () => {
    line?.splice(line.indexOf(me), 1);
    line?.forEach(other => other.wake());
    line = null;
  };
  met[host] = first || new Promise(resolve => me.met = resolve);
  await first;
  try {
    for (let asked;; asked = true) {
      // A lost network is asked again after 1 s, 2 s, 4 s and so on, half a minute at most, not all at once.
      let answer, ms = Math.min(30000, 1000 * 2 ** tries++) * (1 - Math.random() / 2);
      try {
        answer = await fetch(line ? asking(request, get) : request.clone());
      } catch (error) {
        // Whoever does not wait yet, or whose request may have been carried out, has to know.
        if (!line || signal.aborted) throw error;
      }
      me.met();
      const room = answer?.headers.get('Fairdoor-Room'), after = answer?.headers.get('Retry-After');
      if (after) ms = after * 1000 || ms;
      // The room has a challenge: the page of the room asks for it, and a script is told.
      if (room && answer.status === 403) return answer;
      if (room) {
        if (!after) throw new DOMException(room + ' takes nobody', 'RejectedError');
        tries = 0;
        if (!line) (line = lines[host + room] ??= []).push(me);
        const told = (await answer.json().catch(() => 0)).cfWaitingRoom;
        if (told) line.forEach(other => other.told(told));
        if (!asked && !get) ms = 0;
      } else if (answer && !(line && tries < 6 && /^50[234]$/.test(answer.status))) {
        if (!line || get) return answer;
        answer.body?.cancel();
        leave();
        continue;
      }
      await pause(me, signal, line[0] === me ? ms : Infinity);
    }
  } finally {
    me.met();
    leave();
  }
};
// Timers of a hidden page are slowed down: whoever looks at it again is told at once.
document.addEventListener('visibilitychange', () => document.hidden || Object.values(lines).forEach(line => line[0]?.wake()));
self.fairdoor = {fetch: inLine};
})();
