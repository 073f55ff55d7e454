// Verifies admission tokens for nginx. Everything that is not right goes to the gate.

const ROOM = 'shop';
const COOKIE = new RegExp(`(?:^|; *)(?:__Host-)?fairdoor_admission_${ROOM}=([^; ]*)`);
const GATES_COOKIES = /(?:^|; *)(?:__Host-)?fairdoor_[^;]*/g;

// What the gate keeps for itself: its own paths, and paths whose answers command it. Connections that last go to it, too, as it
// counts them.
const GATES_PATHS = /^\/(\.fairdoor\/|leave(\?|$))/;

// A public key on the curve P-256, up to its two coordinates (RFC 5480). This njs imports no JSON Web Keys.
const SPKI = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex');

async function check(r) {
    const cookies = r.headersIn.Cookie || '';
    const token = (COOKIE.exec(cookies) || [])[1];
    if (!token || r.headersIn.Upgrade || GATES_PATHS.test(r.variables.request_uri) || !await isValid(token)) {
        r.headersOut.Cookies = cookies;
        r.return(401);
        return;
    }
    r.headersOut.Token = token;
    r.headersOut.Cookies = cookies.replace(GATES_COOKIES, '').replace(/^; */, '');
    r.return(204);
}

async function isValid(token) {
    try {
        return await verify(token);
    } catch (e) {
        return false; // it is no token
    }
}

async function verify(token) {
    const parts = token.split('.');
    const header = read(parts[0]), claims = read(parts[1]), jwk = keyOf(header.kid);
    if (parts.length !== 3 || header.alg !== 'ES256' || !jwk) {
        return false;
    }
    if (claims.iss !== 'fairdoor' || claims.aud !== 'edge' || claims.room !== ROOM || !(claims.exp > Date.now() / 1000)) {
        return false;
    }
    const spki = Buffer.concat([SPKI, Buffer.from(jwk.x, 'base64url'), Buffer.from(jwk.y, 'base64url')]);
    const key = await crypto.subtle.importKey('spki', spki, {name: 'ECDSA', namedCurve: 'P-256'}, false, ['verify']);
    return crypto.subtle.verify({name: 'ECDSA', hash: 'SHA-256'}, key, Buffer.from(parts[2], 'base64url'), `${parts[0]}.${parts[1]}`);
}

function read(part) {
    return JSON.parse(Buffer.from(part, 'base64url'));
}

// keyOf returns the key with the id. What js_preload_object has read has no methods of arrays.
function keyOf(id) {
    for (let i = 0; i < fairdoor.keys.length; i++) {
        if (fairdoor.keys[i].kid === id) {
            return fairdoor.keys[i];
        }
    }
}

export default {check};
