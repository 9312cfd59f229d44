import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readDefault, withDefault } from '../../web/pages/accounts/protection-defaults.ts';
import { defaultsFor, defaultText } from '../../web/parts/protection/defaults.ts';

describe('an account’s defaults', () => {
  it('are typed as distances, and never as prices', () => {
    assert.deepEqual(readDefault('stop_loss', '2%'), { value: '2%' });
    assert.ok('problem' in readDefault('stop_loss', '64000'));
    assert.deepEqual(readDefault('take_profit', '50 at 2%, 50 at 4%'), {
      value: [
        { at: '2%', percent: 50 },
        { at: '4%', percent: 50 },
      ],
    });
    assert.deepEqual(readDefault('break_even', 'tp1'), { value: 'tp1' });
    assert.deepEqual(readDefault('stop_loss', ''), { value: null });
  });

  it('stand in their fields as they were typed', () => {
    const kept = [
      { at: '2%', percent: '50' },
      { at: '4%', percent: '50' },
    ];
    assert.equal(defaultText('take_profit', kept), '50 at 2%, 50 at 4%');
    assert.equal(defaultText('take_profit', [{ at: '4%', percent: '100' }]), '4%');
    assert.equal(defaultText('trailing_stop', { distance: '1%' }), '1%');
    assert.equal(defaultText('stop_loss', undefined), '');
  });

  it('are those of a symbol before those of every symbol', () => {
    const protection_defaults = { '*': { stop_loss: '2%', take_profit: '4%' }, AAPL: { stop_loss: 'none' } };
    assert.deepEqual(defaultsFor({ protection_defaults }, 'aapl'), { take_profit: '4%' });
    assert.deepEqual(defaultsFor({ protection_defaults: null }, 'AAPL'), {});
  });

  it('change one by one, and the last one taken away leaves none', () => {
    const defaults = { '*': { stop_loss: '2%' }, AAPL: { stop_loss: '5%' } };
    assert.deepEqual(withDefault(defaults, '*', { take_profit: '4%' }), {
      AAPL: { stop_loss: '5%' },
      '*': { stop_loss: '2%', take_profit: '4%' },
    });
    assert.deepEqual(withDefault(defaults, '*', { stop_loss: null }), { AAPL: { stop_loss: '5%' } });
    assert.equal(withDefault({ '*': { stop_loss: '2%' } }, '*', { stop_loss: null }), null);
  });
});
