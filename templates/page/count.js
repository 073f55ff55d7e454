// The part of the script that pages have before an event: it tells when the event starts, and counts down its last minute.
(() => {
const $ = id => document.getElementById(id) || document.createElement('p'), by = $('by'), wait = $('wait'), stamp = $('updated'), state = document.body.dataset;
const lang = document.documentElement.lang || 'en', latin = (navigator.languages.find(l => /^[\w-]+$/.test(l) && l.slice(0, 2) === lang.slice(0, 2)) || lang) + '-u-nu-latn';
const second = new Intl.NumberFormat(latin, {style: 'unit', unit: 'second', unitDisplay: 'long'}), say = stamp.dataset;
let told, ends, seen;
// The server's clock counts, within the minute that it has told.
const hear = w => {
  told = w.isEventPrequeueing && !w.queueAll && !w.isHeld && !w.soldOut && !w.claimRequired && w;
  if (!told || w.lastUpdated === seen) return;
  seen = w.lastUpdated;
  const most = w.timeUntilEventStart * 60000, left = Date.parse(w.eventStartTime) - Date.parse(seen) - (w.refreshIntervalSeconds - w.refreshLeftSeconds) * 1000;
  ends = Date.now() + Math.min(most, Math.max(left, most - 59999));
};
const count = () => {
  const left = told ? Math.max(0, ends - Date.now()) : 0, last = left > 0 && left < 60000;
  // Seconds are not said aloud.
  wait.ariaLive = last ? 'off' : null;
  if (last) wait.textContent = second.format(Math.ceil(left / 1000));
};
const paint = () => {
  count();
  if (told) {
    const at = new Date(told.eventStartTime), far = at - Date.parse(seen) > 43200000;
    by.textContent = say.startsAt.replace('{time}', at.toLocaleString(latin, far ? {dateStyle: 'full', timeStyle: 'short'} : {timeStyle: 'short'}));
    by.hidden = false;
  }
  state.title = told ? by.textContent + ' · ' : '';
};
document.addEventListener('fairdoor', ({detail}) => {
  hear(detail);
  paint();
});
setInterval(count, 500);
if (!say.start) return;
hear({isEventPrequeueing: true, eventStartTime: say.start, lastUpdated: stamp.dateTime, timeUntilEventStart: +say.until, refreshIntervalSeconds: +say.refresh, refreshLeftSeconds: +say.left});
paint();
document.title = state.title + document.title;
})();
