// The rules of the pages of entry: where somebody goes on, and how a refusal is said.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { optionsOf, scriptOf } from '../../web/pages/enter/challenge.ts';
import {
  adviceOn,
  codeRefusedAs,
  fieldOf,
  minutesLeft,
  placeInWords,
  typedCode,
  wayOn,
} from '../../web/pages/enter/ways.ts';
import { bars, STEPS, took } from '../../web/pages/landing/story.ts';

const ORIGIN = 'https://fillpath.example';

describe('after the login', () => {
  test('one goes on to the path that one was going to, with its filters', () => {
    for (const path of ['/', '/signals', '/signals/0198?x=1#here', '/accounts/a%20b', '/login-history'])
      assert.equal(wayOn(path, ORIGIN), path);
  });

  test('and to Today where none is named, or only the way in', () => {
    for (const next of [
      undefined,
      '',
      '/login',
      '/login?next=/x',
      '/register',
      '/welcome',
      '/reset-password/',
    ])
      assert.equal(wayOn(next, ORIGIN), '/');
  });

  test('nobody is led to another host, however it is spelled', () => {
    for (const next of [
      'https://evil.example/',
      '//evil.example',
      '///evil.example',
      '/\\evil.example',
      '\\/evil.example',
      '/\t/evil.example',
      '/\n/evil.example',
      '\t//evil.example',
      ' //evil.example',
      '/./\\evil.example',
      '/.//evil.example',
      '/x/..//evil.example',
      '/%2e%2e//evil.example/..//evil.example',
      'javascript:alert(1)',
      'data:text/html,x',
      'evil.example',
      '@evil.example',
      'http:/evil.example',
      'https:evil.example',
    ]) {
      const led = wayOn(next, ORIGIN);
      assert.equal(new URL(led, ORIGIN).origin, ORIGIN, JSON.stringify(next));
      assert.match(led, /^\/(?![/\\])/, JSON.stringify(next));
      assert.ok(!/^\/[\t\n\r]/.test(led));
    }
  });

  test('the login says where that is, where it has a name', () => {
    assert.equal(placeInWords('/signals/0198'), 'a signal’s story');
    assert.equal(placeInWords('/orders/0198'), 'an order’s story');
    assert.equal(placeInWords('/signals?code=x'), 'Signals');
    assert.equal(placeInWords('/'), null);
  });
});

describe('a refusal', () => {
  const refusal = (code: string, detail = 'as the API says it') => ({ code, detail });

  test('stands beside the field that it is about', () => {
    assert.equal(fieldOf(refusal('invalid_credentials')), 'password');
    assert.equal(fieldOf(refusal('email_taken')), 'email');
    assert.equal(fieldOf(refusal('captcha_failed')), 'challenge');
    assert.equal(fieldOf(refusal('request_invalid', '"email" must be an email address.')), 'email');
    assert.equal(fieldOf(refusal('request_invalid', 'The body is no JSON.')), 'form');
    assert.equal(fieldOf(refusal('database_unavailable')), 'form');
  });

  test('speaks of no header and no path of the API to a person', () => {
    for (const code of [
      'invalid_credentials',
      'login_locked',
      'email_taken',
      'passwords_busy',
      'edge_rate_limited',
    ])
      assert.ok(!/Retry-After|\/auth\//.test(adviceOn(refusal(code, 'see Retry-After and /auth/x'))), code);
    assert.equal(adviceOn(refusal('password_weak', 'Choose another.')), 'Choose another.');
  });

  test('of the second step is about the code, not about the password', () => {
    assert.match(codeRefusedAs(false).title, /code/);
    assert.match(codeRefusedAs(true).title, /recovery code/);
  });
});

test('the time that a step has left is said in minutes and seconds, and never below zero', () => {
  assert.equal(minutesLeft(252_000), '4:12');
  assert.equal(minutesLeft(59_001), '1:00');
  assert.equal(minutesLeft(5_000), '0:05');
  assert.equal(minutesLeft(-1), '0:00');
});

test('a code that was copied in two halves is six digits', () => {
  assert.equal(typedCode(' 402 117'), '402117');
  assert.equal(typedCode('4021179'), '402117');
});

describe('the bot challenge', () => {
  test('is drawn where and when we say, by each provider’s own script', () => {
    for (const provider of ['turnstile', 'recaptcha', 'hcaptcha'] as const) {
      const url = new URL(scriptOf(provider, 'ready'));
      assert.equal(url.protocol, 'https:');
      assert.equal(url.searchParams.get('render'), 'explicit');
      assert.equal(url.searchParams.get('onload'), 'ready');
    }
  });

  test('tells Turnstile what is done with it, which the server compares', () => {
    const wishes = { siteKey: 'k', action: 'register', isDark: true, onAnswer() {}, onLost() {} } as const;
    assert.equal(optionsOf('turnstile', wishes)['action'], 'register');
    assert.ok(!('action' in optionsOf('hcaptcha', wishes)));
    assert.equal(optionsOf('recaptcha', wishes)['sitekey'], 'k');
    assert.equal(optionsOf('recaptcha', wishes)['theme'], 'dark');
  });
});

test('the example on the landing page adds up, and its bars fill the whole', () => {
  assert.equal(took(), 201.2);
  assert.equal(took('ours'), 6.6);
  assert.equal(took('theirs'), 194.6);
  const last = bars().at(-1);
  assert.equal(bars().length, STEPS.length);
  assert.ok(last && Math.abs(last.left + last.width - 100) < 1e-9);
});
