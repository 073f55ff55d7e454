// The part of the script that asks to be called: the visitor leaves, and is told by web push.
(() => {
const page = document.getElementById('fairdoor'), say = page.dataset, state = document.body.dataset, alert = document.getElementById('alert');
const path = '/.fairdoor/call-back?room=' + encodeURIComponent(say.room), scope = '/.fairdoor/calls/' + encodeURIComponent(say.room) + '/';
let button = document.getElementById('call'), note = document.getElementById('called'), worker, asked = 0;
if (!navigator.serviceWorker || !window.PushManager || !window.Notification || !(button || alert)) return;
if (!button) {
  button = document.createElement('button');
  button.id = 'call';
  button.type = 'button';
  button.textContent = say.callMe;
  alert.after(button);
}
button.hidden = false;
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
  const {ok} = await fetch(path, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(subscription), credentials: 'same-origin', redirect: 'manual'});
  return ok;
};
const fail = async subscription => {
  if (subscription) await subscription.unsubscribe().catch(() => {});
  show(say.callFails, false);
};
button.onclick = async () => {
  let subscription;
  button.disabled = true;
  try {
    if (await Notification.requestPermission() !== 'granted') throw 0;
    worker = await navigator.serviceWorker.register('/.fairdoor/call.js', {scope});
    const ready = new Promise(resolve => {
      const waits = worker.installing || worker.waiting;
      worker.active ? resolve() : waits.onstatechange = () => worker.active && resolve();
    });
    await ready;
    const key = Uint8Array.from(atob(say.callKey.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));
    subscription = await worker.pushManager.subscribe({userVisibleOnly: true, applicationServerKey: key});
    if (!await ask(subscription)) throw 0;
    show(say.calling, true);
  } catch (e) {
    await fail(subscription);
  }
  button.disabled = false;
};
const again = async () => {
  try {
    worker = worker || await navigator.serviceWorker.getRegistration(scope);
    const subscription = worker && await worker.pushManager.getSubscription();
    if (!subscription) return state.called && show('', false);
    if (await ask(subscription)) show(say.calling, true);
    else await fail(subscription);
  } catch (e) {}
};
document.addEventListener('fairdoor', ({detail}) => {
  if (state.called && detail.refreshIntervalSeconds && !detail.claimRequired && Date.now() - asked > 60000) again();
});
again();
})();
