// The page reads itself again every few seconds, and puts what has changed in place. What the operator fills in, has opened
// or has focused stays as it is. Times are told as the viewer's clock does.
(() => {
  const every = 3000;
  let heard = Date.now(), pending = 0;

  const today = new Date().toDateString();
  const localize = of => {
    for (const time of of.querySelectorAll('time[datetime]')) {
      const at = new Date(time.dateTime);
      const text = at.toLocaleString(undefined, at.toDateString() === today ? {timeStyle: 'medium'} : {dateStyle: 'medium', timeStyle: 'short'});
      if (time.textContent !== text) time.textContent = text;
      time.title = at.toString();
    }
  };

  // touched says whether a form is not as the page came.
  const touched = form => [...form.elements].some(e =>
    e.tagName === 'SELECT' ? [...e.options].some(o => o.selected !== o.defaultSelected) : 'defaultValue' in e && e.value !== e.defaultValue);

  const put = (now, then) => {
    const focused = document.activeElement;
    const has = now.contains(focused);
    if (has && focused.matches('input, select, textarea')) return;
    const opened = [...now.querySelectorAll('details')].map(d => d.open);
    then.querySelectorAll('details').forEach((d, i) => { d.open = opened[i] ?? false; });
    if (now.innerHTML === then.innerHTML) return;
    now.innerHTML = then.innerHTML;
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

  const ask = async () => {
    clearTimeout(pending);
    if (document.hidden) return;
    try {
      const answer = await fetch(location.href, {signal: AbortSignal.timeout(10000), cache: 'no-store'});
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
    for (const zone of typed.querySelectorAll('.zone')) zone.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
    typed.addEventListener('formdata', event => {
      for (const input of typed.querySelectorAll('[type=datetime-local]')) {
        if (input.value) event.formData.set(input.name, new Date(input.value).toISOString());
      }
    });
  }

  localize(document);
  // A page that is the answer to a form is not asked for again.
  if (!document.querySelector('[data-answer]')) {
    document.addEventListener('visibilitychange', ask);
    pending = setTimeout(ask, every);
  }
})();
