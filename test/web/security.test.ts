// The rules of the security page: what is counted, who would be shut out, and how strangers' texts are told.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { encode } from 'uqr';
import { ipList } from '../../src/app/accounts/ip-list.ts';
import { readConfig } from '../../src/config/config.ts';
import { SECURITY_EVENTS } from '../../src/domain/denial.ts';
import {
  CHARTING_ADDRESSES,
  consequenceOf,
  isCharting,
  isOn,
  warningOfRemoval,
} from '../../web/pages/security/addresses.ts';
import {
  type Attack,
  answerOf,
  byDay,
  DAYS,
  inWords,
  midnights,
  standsOut,
  whatItSent,
} from '../../web/pages/security/attacks.ts';
import { about, deviceInWords, inFours, pathOf } from '../../web/pages/security/words.ts';

const NOW = new Date(2026, 10, 12, 16).getTime();
let ids = 0;

function attack(at: Date, more: Partial<Attack> = {}): Attack {
  ids += 1;
  return {
    id: ids,
    user_id: 'u',
    action: 'webhook_credential_attack',
    type: 'webhook_credential_attack',
    success: false,
    ip_address: '185.220.101.34',
    user_agent: null,
    request_path: null,
    request_method: null,
    error_message: null,
    resource_type: null,
    resource_id: null,
    metadata: {},
    created_at: at.toISOString(),
    ...more,
  };
}

describe('attempts by day', () => {
  test('are counted by the local day, the last of thirty being today', () => {
    const days = byDay(
      [
        attack(new Date(2026, 10, 12, 0, 0, 0)),
        attack(new Date(2026, 10, 11, 23, 59, 59)),
        attack(new Date(2026, 10, 11, 12), { type: 'webhook_replay_attack' }),
        // Before the first day.
        attack(new Date(2026, 9, 1)),
      ],
      NOW,
    );
    assert.equal(days.length, DAYS);
    assert.deepEqual(
      days.slice(-2).map(({ strangers, others }) => [strangers, others]),
      [
        [1, 1],
        [1, 0],
      ],
    );
    assert.equal(
      days.reduce((sum, { strangers, others }) => sum + strangers + others, 0),
      3,
    );
  });

  test('begin at midnights that grow, whatever the clocks were set to in between', () => {
    const starts = midnights(NOW);
    assert.ok(starts.every((start) => new Date(start).getHours() === 0));
    assert.equal(new Set(starts).size, DAYS);
  });

  test('name the day that stands out, with its kind, its span and its senders', () => {
    const storm = Array.from({ length: 9 }, (_, index) => attack(new Date(2026, 10, 3, 4, 0, index * 5)));
    const found = standsOut([...storm, attack(new Date(2026, 10, 8, 3))], NOW);
    assert.equal(found?.day, 20);
    assert.equal(found?.text, '9 wrong secrets in 40 s, from one address');
  });

  test('count what only a newer service has a word for', () => {
    const storm = Array.from({ length: 9 }, (_, index) => ({
      ...attack(new Date(2026, 10, 3, 4, 0, index * 5)),
      type: 'unheard_of' as never,
    }));
    assert.equal(standsOut(storm, NOW)?.text, '9 attempts in 40 s, from one address');
  });

  test('name none where there are few, or as many on other days', () => {
    assert.equal(standsOut([], NOW), null);
    assert.equal(standsOut([attack(new Date(2026, 10, 3))], NOW), null);
    const evenly = [1, 2, 3].flatMap((day) =>
      Array.from({ length: 6 }, () => attack(new Date(2026, 10, day))),
    );
    assert.equal(standsOut(evenly, NOW), null);
  });
});

describe('an attempt', () => {
  test('of every kind that the API knows has its words', () => {
    for (const type of SECURITY_EVENTS) assert.notEqual(inWords({ type, metadata: {} }), type);
  });

  test('that was too old says by how much', () => {
    const old = (age: number) =>
      inWords({ type: 'webhook_timestamp_expired', metadata: { request_age_seconds: age } });
    assert.equal(old(412), 'The signal was 412 s old');
    assert.equal(old(27_543_245), 'The signal was 319 days old');
    assert.equal(old(-70), 'The signal was dated 70 s ahead');
  });

  test('leads to what was sent with it, unless it was no signal', () => {
    const created_at = '2026-11-12T11:07:41.200Z';
    assert.deepEqual(whatItSent({ type: 'webhook_ip_blocked', created_at }), {
      code: 'webhook_ip_blocked',
      from: '2026-11-12T11:07:36.200Z',
      to: '2026-11-12T11:07:42.200Z',
    });
    assert.equal(whatItSent({ type: 'csrf_validation_failed', created_at }), null);
  });

  test('counts in the page’s answer, which owns up to what it did not count', () => {
    const said = (count: number, isAll = true) => Object.values(answerOf(count, isAll)).join('');
    assert.equal(said(0), 'No attempt had to be refused in 30 days');
    assert.equal(said(1), '1 attempt refused in 30 days, none got through');
    assert.equal(said(1000, false), 'More than 1,000 attempts refused in 30 days, none got through');
  });
});

describe('allowed addresses', () => {
  test('of the charting platform are those that the service knows', () => {
    const known = readConfig({}).edge.chartingIps.map(({ address }) => address);
    assert.deepEqual([...CHARTING_ADDRESSES], known);
    assert.ok(isCharting('52.89.214.238'));
    assert.ok(!isCharting(null));
  });

  test('hold the same addresses as the service’s own list does', () => {
    const lists = [
      [],
      ['10.0.0.0/8'],
      ['192.0.2.7'],
      ['2001:db8::/48', '192.0.2.0/31'],
      ['0.0.0.0/0'],
      ['::/0'],
      ['nonsense', '1.2.3.4/'],
    ];
    const addresses = [
      '10.255.0.1',
      '11.0.0.1',
      '192.0.2.7',
      '192.0.2.1',
      '2001:db8::1',
      '2001:db8:1::1',
      '::1',
    ];
    for (const list of lists)
      for (const ip of [...addresses, '::ffff:192.0.2.7', 'x'])
        assert.equal(isOn(list, ip), ipList(list).has(ip), `${ip} on ${list}`);
  });

  test('shut out everybody else with the first entry, and say whom', () => {
    const own = '203.0.113.7';
    assert.deepEqual(consequenceOf([], [...CHARTING_ADDRESSES], own), {
      isFirst: true,
      shutsOutBrowser: true,
      shutsOutCharting: false,
    });
    assert.deepEqual(consequenceOf([], ['203.0.113.0/24'], own), {
      isFirst: true,
      shutsOutBrowser: false,
      shutsOutCharting: true,
    });
    assert.deepEqual(consequenceOf(['192.0.2.1'], ['192.0.2.2'], own), {
      isFirst: false,
      shutsOutBrowser: false,
      shutsOutCharting: false,
    });
  });

  test('warn before the last goes, and before this browser’s does', () => {
    assert.equal(warningOfRemoval(['192.0.2.1'], '192.0.2.1', '203.0.113.7'), 'opens_to_all');
    assert.equal(
      warningOfRemoval(['192.0.2.1', '203.0.113.7'], '203.0.113.7', '203.0.113.7'),
      'shuts_out_browser',
    );
    assert.equal(warningOfRemoval(['203.0.113.0/24', '203.0.113.7'], '203.0.113.7', '203.0.113.7'), null);
    assert.equal(warningOfRemoval(['192.0.2.1', '192.0.2.2'], '192.0.2.1', '203.0.113.7'), null);
  });
});

describe('a user agent', () => {
  test('is told by browser and system', () => {
    const agents = {
      'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0': 'Firefox on Linux',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0':
        'Edge on Windows',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1':
        'Safari on iOS',
      'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36':
        'Chrome on Android',
      'curl/8.5.0': 'curl',
    };
    for (const [agent, words] of Object.entries(agents)) assert.equal(deviceInWords(agent), words);
  });

  test('that is none is shown as it came, shortened, or as nameless', () => {
    assert.equal(deviceInWords('<b>me</b>'), '<b>me</b>');
    assert.equal(deviceInWords('x'.repeat(200)).length, 61);
    assert.equal(deviceInWords(''), 'a program without a name');
  });
});

test('an audit entry is about what it names: the trade, the account, the key; else what was asked for', () => {
  const names = new Map([['a1', 'Bybit main']]);
  const entry = { ...attack(new Date(NOW)), request_method: 'POST', request_path: '/auth/logout' };
  assert.equal(about(entry, names), 'POST /auth/logout');
  assert.equal(about({ ...entry, metadata: { name: 'reporting' } }, names), 'reporting');
  assert.equal(
    about(
      {
        ...entry,
        metadata: { trading_account_id: 'a1', action: 'sell', quantity: 0.3, symbol: 'BTCUSDT.P' },
      },
      names,
    ),
    'sell 0.3 BTCUSDT.P, Bybit main',
  );
  assert.equal(
    about({ ...entry, resource_type: 'session', resource_id: 's1', error_message: 'No such session' }, names),
    'session s1, No such session',
  );
  const said = { trading_account_id: 'a1', symbol: 'BTCUSDT', text: 'The stop was put back.' };
  assert.equal(
    about({ ...entry, resource_type: 'protection', resource_id: 'p1', metadata: said }, names),
    'Bybit main: The stop was put back.',
  );
});

describe('the second factor', () => {
  test('shows its secret in fours', () => {
    assert.equal(inFours('JBSWY3DPEHPK3PXP'), 'JBSW Y3DP EHPK 3PXP');
  });

  test('draws every dark module of its code, and no other', () => {
    const { data, size } = encode('otpauth://totp/Fillpath:you%40example.com?secret=JBSWY3DPEHPK3PXP', {
      border: 0,
    });
    const drawn = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
    for (const [, x, y, width] of pathOf(data).matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g))
      for (let step = 0; step < Number(width); step += 1) {
        const row = drawn[Number(y)];
        if (row) row[Number(x) + step] = true;
      }
    assert.deepEqual(drawn, data);
  });
});

test('the page loads no picture, script or style of anybody else', () => {
  for (const file of ['second-factor.tsx', 'attempts.tsx', 'security.module.css'])
    assert.doesNotMatch(
      readFileSync(new URL(`../../web/pages/security/${file}`, import.meta.url), 'utf8'),
      /https?:\/\/|dangerouslySetInnerHTML/,
    );
});
