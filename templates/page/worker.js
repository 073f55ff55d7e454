// The service worker of visitors who are called.
addEventListener('install', e => e.waitUntil(skipWaiting()));
addEventListener('push', e => e.waitUntil((async () => {
  const {title, body, until, url, last} = e.data.json();
  const time = until && new Date(until).toLocaleTimeString([], {timeStyle: 'short'});
  await registration.showNotification(title, {body: body.replace('{time}', time), tag: registration.scope, renotify: true, data: url});
  const subscription = last && await registration.pushManager.getSubscription();
  if (subscription) await subscription.unsubscribe();
})()));
addEventListener('notificationclick', e => {
  e.notification.close();
  e.waitUntil(clients.openWindow(e.notification.data));
});
