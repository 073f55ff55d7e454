// A crowd for k6: visitors with cookies of their own, who ask for a page, wait as they are told, look around and go.
import {sha256} from 'k6/crypto';
import {vu} from 'k6/execution';
import http from 'k6/http';
import {Counter, Rate, Trend} from 'k6/metrics';
import {sleep} from 'k6';

const page = __ENV.GATE || 'http://127.0.0.1:8080/';
const token = __ENV.TOKEN;
const number = (name, otherwise) => Number(__ENV[name] || otherwise);
const visitors = number('VISITORS', 200);
const over = number('OVER', 60); // seconds in which they come
const patience = number('PATIENCE', 3600); // seconds after which they give up
const stay = number('STAY', 30); // seconds for which they look around
const pageView = number('PAGE_VIEW', 5); // seconds between two requests of theirs, ± a half

export const options = {
  scenarios: {crowd: {executor: 'per-vu-iterations', vus: visitors, iterations: 1, maxDuration: `${over + patience + 2 * stay + 60}s`}},
  maxRedirects: 0, // the gate is the only target
  setupTimeout: '30s',
  thresholds: {
    refused: ['count==0'], // the room takes nobody
    interrupted: ['count==0'], // who was in had to wait again
    errors: ['rate<0.001'], // of requests: no answer, or an error that is not the room's
    in_time: ['rate>0.9'], // of those who were told a wait: in by then
    let_in: ['rate>0.99'], // of visitors: nearly nobody gave up
  },
};

const refused = new Counter('refused');
const interrupted = new Counter('interrupted');
const errors = new Rate('errors');
const inTime = new Rate('in_time');
const letIn = new Rate('let_in');
const told = new Trend('told', true); // by the first answer that told a wait
const waited = new Trend('waited', true);

const site = page.match(/^https?:\/\/[^/]+/)[0];
const here = /^http:\/\/(127\.[\d.]+|\[::1\]|([^/:]+\.)?localhost)(:\d+)?$/.test(site);

// setup ends the test unless the gate is on this machine or agrees to the crowd, as fairdoor load does.
export function setup() {
  const agrees = path => http.get(site + path).body?.trim().split(' ')[0] === sha256(token, 'hex');
  if (!here && !token || token && !['/.fairdoor/load-token', '/.well-known/fairdoor-load'].some(agrees)) {
    throw new Error(`${site} does not agree to a crowd: its load_token has to be the SHA-256 of TOKEN`);
  }
}

// ask asks for the page. An answer is the room's if it has the header Fairdoor-Room; then again says after how many
// seconds to ask again, 0 for not at all, and minutes what wait is told, 0 for none.
function ask() {
  const answer = http.get(page, {headers: {Accept: 'application/json', 'User-Agent': `fairdoor-load/${vu.idInTest}`}, responseType: 'text'});
  let room = {};
  try {
    room = answer.json('cfWaitingRoom') || {};
  } catch {
    // a page, of the room or of the site
  }
  const queued = 'Fairdoor-Room' in answer.headers || 'inWaitingRoom' in room;
  const failed = !queued && (answer.status === 0 || answer.status >= 400);
  errors.add(failed);
  return {queued, failed, again: Number(answer.headers['Retry-After']) || room.refreshIntervalSeconds || 0, minutes: room.waitTimeKnown && room.waitTime || 0};
}

// wait waits until the visitor is in, which it says.
function wait() {
  const came = Date.now();
  let minutes = 0;
  for (;;) {
    const answer = ask();
    if (!answer.queued && !answer.failed) {
      waited.add(Date.now() - came);
      if (minutes) inTime.add(Date.now() - came <= minutes * 60_000);
      return true;
    }
    if (answer.queued && !answer.again) {
      refused.add(1);
      return false;
    }
    if (!minutes && answer.minutes) {
      minutes = answer.minutes;
      told.add(minutes * 60_000);
    }
    const left = (came - Date.now()) / 1000 + patience;
    const pause = answer.again || 5;
    sleep(Math.min(pause, Math.max(left, 0)));
    if (pause >= left) {
      http.post(`${site}/.fairdoor/leave`);
      return false;
    }
  }
}

// look has a visitor who is in look around.
function look() {
  for (let left = stay; left > 0;) {
    const pause = Math.min(pageView * (0.5 + Math.random()), left);
    sleep(pause);
    left -= pause;
    if (ask().queued) {
      interrupted.add(1);
      return;
    }
  }
}

export default function visit() {
  sleep(Math.random() * over);
  const isIn = wait();
  letIn.add(isIn);
  if (isIn) look();
}
