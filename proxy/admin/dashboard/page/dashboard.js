// The page reads itself again every few seconds, and puts what has changed in place. What the operator fills in, has opened
// or has focused stays as it is. Times are told as the viewer's clock does.
(() => {
  const every = Number(document.body.dataset.every) || 3000;
  let heard = Date.now(), pending = 0;

  const today = new Date().toDateString(), zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const whole = {weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', hour: 'numeric', minute: '2-digit', timeZoneName: 'short'};
  const localize = of => {
    for (const time of of.querySelectorAll('time[datetime]')) {
      const at = new Date(time.dateTime);
      const text = at.toLocaleString(undefined, 'dayOfWeek' in time.dataset ? whole : at.toDateString() === today ? {timeStyle: 'medium'} : {dateStyle: 'medium', timeStyle: 'short'});
      if (time.textContent !== text) time.textContent = text;
      time.title = at.toString();
    }
    for (const cell of of.querySelectorAll('[data-at]')) { // 15:04, 28 Nov, or both
      const at = new Date(Number(cell.dataset.at)), text = cell.textContent;
      const parts = {...text.includes(' ') && {day: 'numeric', month: 'short'}, ...text.includes(':') && {hour: '2-digit', minute: '2-digit', hourCycle: 'h23'}};
      cell.textContent = at.toLocaleString(undefined, parts);
    }
    for (const name of of.querySelectorAll('.zone')) name.textContent = zone;
    for (const link of of.querySelectorAll('[href*="/report?"]')) { // in the viewer's zone, and of their day
      const to = new URL(link.href);
      to.searchParams.set('timezone', zone);
      if ('day' in link.dataset) {
        const at = new Date(link.dataset.day);
        at.setDate(at.getDate() - link.dataset.ago);
        to.searchParams.set('day', at.toLocaleDateString('sv'));
        link.textContent = at.toLocaleDateString(undefined, {weekday: 'long', day: 'numeric', month: 'long'});
      }
      link.href = to;
    }
    for (const input of of.querySelectorAll('[name=timezone]')) input.value = zone;
    const moment = ms => new Date(Number(ms)).toLocaleString(undefined, {dateStyle: 'short', timeStyle: 'medium'});
    for (const title of of.querySelectorAll('title[data-from]')) {
      const {from, to, name} = title.dataset;
      title.textContent = to ? `${name}, ${moment(from)} to ${moment(to)}` : `${moment(from)} ${name}`;
    }
    for (const chart of of.querySelectorAll('[data-values] svg')) {
      const bands = [...chart.querySelectorAll('.band title')].map(title => title.textContent);
      if (bands.length) chart.querySelector('title').textContent = `${chart.closest('figure').querySelector('figcaption').textContent}. Marked: ${bands.join('; ')}`;
    }
  };

  // Each chart has a slider below it, for keyboards and fingers, and follows the pointer: both show the values of a moment.
  const readable = of => {
    for (const figure of of.querySelectorAll('[data-values]')) {
      const values = JSON.parse(figure.dataset.values), count = values.lines[0].values.length;
      const slider = document.createElement('input'), told = document.createElement('output');
      slider.type = 'range';
      slider.max = count - 1;
      slider.value = count - 1;
      slider.className = 'moment';
      slider.setAttribute('aria-label', 'Moment of ' + figure.querySelector('figcaption').textContent);
      figure.querySelector('svg').after(slider, told);
      const tell = () => {
        const at = new Date(values.from + values.step * slider.value);
        told.textContent = at.toLocaleString(undefined, {dateStyle: 'short', timeStyle: 'short'}) + ': ' +
          values.lines.map(line => `${line.name} ${line.values[slider.value] ?? '–'}`).join(', ');
        slider.setAttribute('aria-valuetext', told.textContent);
      };
      slider.addEventListener('input', tell);
      figure.querySelector('svg').addEventListener('pointermove', event => {
        const box = event.currentTarget.getBoundingClientRect();
        const part = ((event.clientX - box.x) / box.width - values.left) / (values.right - values.left);
        slider.value = Math.round(Math.min(Math.max(part, 0), 1) * (count - 1));
        tell();
      });
      tell();
    }
  };

  // touched says whether a form is not as the page came.
  const touched = form => [...form.elements].some(e =>
    e.tagName === 'SELECT' ? [...e.options].some(o => o.selected !== o.defaultSelected) : 'defaultValue' in e && (e.value !== e.defaultValue || e.checked !== e.defaultChecked));

  const shown = new WeakMap();
  const put = (now, then) => {
    const focused = document.activeElement;
    const has = now.contains(focused);
    if (has && focused.matches('input, select, textarea') || now.querySelector('[data-values]:hover')) return;
    const opened = [...now.querySelectorAll('details')].map(d => d.open);
    then.querySelectorAll('details').forEach((d, i) => { d.open = opened[i] ?? false; });
    const text = then.innerHTML;
    if (shown.get(now) === text) return;
    shown.set(now, text);
    now.innerHTML = text;
    readable(now);
    if (!has) return;
    [...now.querySelectorAll(focused.tagName)].find(e => e.textContent === focused.textContent && e.href === focused.href)?.focus();
  };

  const update = page => {
    localize(page);
    for (const now of document.querySelectorAll('[data-live], [data-form]')) {
      const then = page.getElementById(now.id);
      if (then && !('form' in now.dataset && touched(now))) put(now, then);
    }
  };

  const silent = document.getElementById('silent');
  const tell = () => {
    const seconds = Math.round((Date.now() - heard) / 1000);
    silent.hidden = seconds < 2 * every / 1000 + 2;
    if (!silent.hidden) silent.textContent = `The gate has not answered for ${seconds} seconds: these numbers are old.`;
  };

  const here = new URL(location); // charts of days have ticks at the viewer's midnights
  here.searchParams.set('timezone', zone);
  const ask = async () => {
    clearTimeout(pending);
    if (document.hidden) return;
    try {
      const answer = await fetch(here, {signal: AbortSignal.timeout(10000), cache: 'no-store'});
      if (answer.status === 401) return location.reload();
      if (answer.ok) {
        update(new DOMParser().parseFromString(await answer.text(), 'text/html'));
        heard = Date.now();
      }
    } catch { /* told below */ }
    tell();
    pending = setTimeout(ask, every);
  };

  // The page of those who wait is shown as what is typed makes it.
  const form = document.querySelector('[data-preview]');
  let soon = 0;
  form?.addEventListener('input', () => {
    clearTimeout(soon);
    soon = setTimeout(() => {
      const asked = new URLSearchParams([...new FormData(form)].filter(([name]) => ['message', 'state', 'lang'].includes(name)));
      document.getElementById('preview').src = form.dataset.preview + '?' + asked;
    }, 250);
  });

  // Times are typed as the viewer's clock has them, and sent with their zone.
  for (const typed of document.querySelectorAll('[data-local]')) {
    for (const clock of typed.querySelectorAll('.clock')) clock.textContent = `your time, ${zone}`;
    for (const input of typed.querySelectorAll('[type=datetime-local]')) {
      const at = new Date(input.value + 'Z');
      if ('hour' in input.dataset) at.setMinutes(0); // of the viewer's clock, which may be half an hour off
      if (input.value) input.value = new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, input.value.length);
      const day = document.createElement('output');
      input.labels[0]?.querySelector('.hint')?.append(day);
      const tell = () => { day.textContent = input.value && ', ' + new Date(input.value).toLocaleDateString(undefined, {weekday: 'long'}); };
      input.addEventListener('input', tell);
      tell();
    }
    typed.addEventListener('formdata', event => {
      for (const input of typed.querySelectorAll('[type=datetime-local]')) {
        if (input.value) event.formData.set(input.name, new Date(input.value).toISOString());
      }
    });
  }

  localize(document);
  readable(document);
  // A page that is the answer to a form is not asked for again.
  if (!document.querySelector('[data-answer]')) {
    document.addEventListener('visibilitychange', ask);
    pending = setTimeout(ask, 'every' in document.body.dataset ? 0 : every);
  }
})();
