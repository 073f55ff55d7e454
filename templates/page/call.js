// The part of the script that asks to be called: the visitor leaves, and is told by web push.
(() => {
const say = Object.assign({}, ...['fairdoor', 'calls', 'updated'].map(id => (document.getElementById(id) || document.body).dataset)), state = document.body.dataset;
const path = '/.fairdoor/call-back?room=' + encodeURIComponent(say.room), scope = '/.fairdoor/calls/' + encodeURIComponent(say.room) + '/';
// The page's one button asks for this too; a page of one's own may have one for it.
const button = document.getElementById('tell') || document.getElementById('call');
let note = document.getElementById('called'), worker, asked = 0;
if (!button || !navigator.serviceWorker || !window.PushManager || !window.Notification) return;
button.hidden = !+say.refresh;
if (!note) {
  note = document.createElement('p');
  note.id = 'called';
  note.setAttribute('role', 'status');
  button.after(note);
}
const show = (text, called) => {
  note.textContent = text;
  button.hidden = called;
  // Whoever is called says no goodbye.
  state.called = called ? '1' : '';
};
// It is asked again and again while the page is open, so that the place is held from when it is closed.
const ask = async subscription => {
  asked = Date.now();
  const {ok, status} = await fetch(path + '&to=' + encodeURIComponent(location.pathname + location.search + location.hash), {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(subscription), credentials: 'same-origin', redirect: 'manual'});
  return ok ? '' : status === 503 ? say.callFull : say.callFails;
};
const fail = async (subscription, why) => {
  if (subscription) await subscription.unsubscribe().catch(() => {});
  show(why, false);
};
button.addEventListener('click', async () => {
  let subscription, why = say.callDenied;
  button.disabled = true;
  try {
    if (await Notification.requestPermission() !== 'granted') throw 0;
    why = say.callOffline;
    worker = await navigator.serviceWorker.register('/.fairdoor/call.js', {scope});
    const ready = new Promise(resolve => {
      const waits = worker.installing || worker.waiting;
      worker.active ? resolve() : waits.onstatechange = () => worker.active && resolve();
    });
    await ready;
    const key = Uint8Array.from(atob(say.callKey.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));
    subscription = await worker.pushManager.subscribe({userVisibleOnly: true, applicationServerKey: key});
    why = await ask(subscription).catch(() => say.lost);
    if (why) throw 0;
    show(say.calling, true);
  } catch (e) {
    await fail(subscription, why);
  }
  button.disabled = false;
});
const again = async () => {
  try {
    worker = worker || await navigator.serviceWorker.getRegistration(scope);
    const subscription = worker && await worker.pushManager.getSubscription();
    if (!subscription) return state.called && show('', false);
    const why = await ask(subscription);
    if (why) await fail(subscription, why);
    else show(say.calling, true);
  } catch (e) {}
};
document.addEventListener('fairdoor', ({detail}) => {
  if (!detail.refreshIntervalSeconds) button.hidden = true;
  if (state.called && detail.refreshIntervalSeconds && !detail.claimRequired && Date.now() - asked > 60000) again();
});
again();
})();
