// The stubs of OKX and Bitget refuse a stop that the exchange would refuse, by its own code: what is missing, what does not go
// together, and what cannot be changed of one that stands.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BTC, type Ccxt, stubDesk } from './stub-desk.ts';

/** ccxt's endpoint methods, by name. */
type Calls = Ccxt & Record<string, (params: object) => Promise<{ readonly data: unknown }>>;

const okx = stubDesk('okx');
const bitget = stubDesk('bitget');
const UNIFIED = { options: { defaultType: 'swap', uta: true } };
const CLASSIC = { options: { defaultType: 'swap', uta: false } };

/** Long at 50,000. */
async function long(desk: typeof okx, terms: object, settings: object, contracts: number) {
  await desk.control('POST', 'prices', { BTCUSDT: 50_000 });
  const { ccxt } = await desk.open({ fills_after_ms: null, ...terms }, settings);
  await ccxt.createOrder(BTC, 'market', 'buy', contracts);
  return ccxt as Calls;
}

const refuses = async (answer: Promise<unknown>, code: number): Promise<void> => {
  await assert.rejects(answer, (fault: Error) => {
    assert.match(fault.message, new RegExp(`"${code}"`));
    return true;
  });
};

describe('OKX’s stub', () => {
  const STOP = {
    instId: 'BTC-USDT-SWAP',
    tdMode: 'cross',
    side: 'sell',
    ordType: 'conditional',
    closeFraction: '1',
    reduceOnly: true,
    cxlOnClosePos: true,
    slTriggerPx: '49000',
    slOrdPx: '-1',
    slTriggerPxType: 'last',
    algoClOrdId: 'fs1',
  };
  const { closeFraction: _none, ...SIZED } = { ...STOP, sz: '1' };

  for (const [what, stop, code] of [
    ['one of a size and of the whole position', { ...STOP, sz: '1' }, 51176],
    ['one of neither', { ...SIZED, sz: undefined }, 51175],
    ['a part of the position', { ...STOP, closeFraction: '0.5' }, 51000],
    ['one of the whole position that could open', { ...STOP, reduceOnly: false }, 51328],
    ['one of the whole position with a limit', { ...STOP, slOrdPx: '48000' }, 51330],
    ['no margin mode', { ...STOP, tdMode: undefined }, 51000],
    ['no trigger price', { ...STOP, slTriggerPx: undefined }, 51000],
    ['a price between ticks', { ...STOP, slTriggerPx: '49000.05' }, 51150],
    ['a size between steps', { ...SIZED, sz: '0.05' }, 51121],
    ['an id with a hyphen', { ...STOP, algoClOrdId: 'fs-1' }, 51000],
    ['an instrument that there is not', { ...STOP, instId: 'NO-USDT-SWAP' }, 51001],
    ['a stop above the last price', { ...STOP, slTriggerPx: '51000' }, 51280],
    ['a stop above the mark price', { ...STOP, slTriggerPx: '51000', slTriggerPxType: 'mark' }, 51304],
    ['a stop of the side that is not held', { ...STOP, side: 'buy', slTriggerPx: '51000' }, 51058],
    ['a stop in the other margin mode', { ...STOP, tdMode: 'isolated' }, 51058],
  ] as const)
    it(`refuses ${what}`, async () => {
      const ccxt = await long(okx, {}, {}, 1);
      await refuses((ccxt.privatePostTradeOrderAlgo as Calls[string])(stop), code);
    });

  it('takes one of the whole position and more of sizes, and changes in it only what can be', async () => {
    const ccxt = await long(okx, {}, {}, 1);
    const call = (name: string, params: object) => (ccxt[name] as Calls[string])(params);
    await call('privatePostTradeOrderAlgo', STOP);
    await refuses(call('privatePostTradeOrderAlgo', { ...STOP, algoClOrdId: 'fs2' }), 51088);
    await call('privatePostTradeOrderAlgo', { ...SIZED, algoClOrdId: 'fs2' });
    const amend = (params: object) =>
      call('privatePostTradeAmendAlgos', { instId: 'BTC-USDT-SWAP', algoClOrdId: 'fs1', ...params });
    await refuses(amend({ newSlTriggerPx: '49100', newSlOrdPx: '-1' }), 51523);
    await refuses(amend({ newSlTriggerPx: '49100', newSz: '1' }), 51524);
    await refuses(amend({ newSlTriggerPx: '49100', newSlTriggerPxType: 'mark' }), 51528);
    await refuses(amend({ newSlTriggerPx: '51000' }), 51280);
    await refuses(amend({ newSlTriggerPx: '49100', algoClOrdId: 'none' }), 51527);
    await refuses(amend({}), 51500);
    await amend({ newSlTriggerPx: '49100' });
    const cancel = (params: object) => call('privatePostTradeCancelAlgos', params);
    await refuses(cancel({ instId: 'BTC-USDT-SWAP', algoClOrdId: 'fs1' }), 50002);
    await cancel([{ instId: 'BTC-USDT-SWAP', algoClOrdId: 'fs1' }]);
    await refuses(cancel([{ instId: 'BTC-USDT-SWAP', algoClOrdId: 'fs1' }]), 51400);
    await refuses(amend({ newSlTriggerPx: '49200' }), 51503);
    await refuses(call('privateGetTradeOrderAlgo', { algoClOrdId: 'none' }), 51603);
    await refuses(call('privateGetTradeOrdersAlgoPending', {}), 50014);
  });
});

describe('Bitget’s stub, for a classic account', () => {
  const STOP = {
    marginCoin: 'USDT',
    productType: 'USDT-FUTURES',
    symbol: 'BTCUSDT',
    holdSide: 'buy',
    stopLossTriggerPrice: '49000',
    stopLossTriggerType: 'fill_price',
    stopLossClientOid: 'fs1',
  };

  for (const [what, stop, code] of [
    ['a side that only hedged accounts have', { ...STOP, holdSide: 'long' }, 40017],
    ['no margin coin', { ...STOP, marginCoin: undefined }, 40017],
    ['neither a stop nor a target', { ...STOP, stopLossTriggerPrice: undefined }, 40019],
    ['a trigger that there is not', { ...STOP, stopLossTriggerType: 'last' }, 40017],
    ['a price between ticks', { ...STOP, stopLossTriggerPrice: '49000.05' }, 45115],
    ['a symbol that there is not', { ...STOP, symbol: 'NOUSDT' }, 40034],
    ['a stop above the last price', { ...STOP, stopLossTriggerPrice: '51000' }, 40834],
    [
      'a stop above the mark price',
      { ...STOP, stopLossTriggerPrice: '51000', stopLossTriggerType: 'mark_price' },
      40917,
    ],
    [
      'a stop of the side that is not held',
      { ...STOP, holdSide: 'sell', stopLossTriggerPrice: '51000' },
      45068,
    ],
  ] as const)
    it(`refuses ${what}`, async () => {
      const ccxt = await long(bitget, { account_type: 'classic' }, CLASSIC, 0.01);
      await refuses((ccxt.privateMixPostV2MixOrderPlacePosTpsl as Calls[string])(stop), code);
    });

  it('overwrites both of the two, and cancels only what is of the type', async () => {
    const ccxt = await long(bitget, { account_type: 'classic' }, CLASSIC, 0.01);
    const call = (name: string, params: object) => (ccxt[name] as Calls[string])(params);
    const listed = async () => {
      const { data } = await call('privateMixGetV2MixOrderOrdersPlanPending', {
        productType: 'USDT-FUTURES',
        planType: 'profit_loss',
      });
      const { entrustedList } = data as { entrustedList: readonly Record<string, string>[] | null };
      return entrustedList?.map(({ planType, clientOid, triggerPrice }) => [
        planType,
        clientOid,
        triggerPrice,
      ]);
    };
    const set = (params: object) => call('privateMixPostV2MixOrderPlacePosTpsl', { ...STOP, ...params });
    await set({ stopSurplusTriggerPrice: '60000', stopSurplusClientOid: 'tp1' });
    assert.deepEqual(await listed(), [
      ['pos_loss', 'fs1', '49000'],
      ['pos_profit', 'tp1', '60000'],
    ]);
    await set({ stopLossTriggerPrice: '49100', stopLossClientOid: 'fs2' });
    assert.deepEqual(
      await listed(),
      [['pos_loss', 'fs1', '49100']],
      'the target is gone, the id is the first',
    );
    const cancel = async (planType: string | undefined) => {
      const { data } = await call('privateMixPostV2MixOrderCancelPlanOrder', {
        ...{ productType: 'USDT-FUTURES', symbol: 'BTCUSDT', planType, orderIdList: [{ clientOid: 'fs1' }] },
      });
      return (data as { successList: readonly unknown[] }).successList.length;
    };
    assert.equal(await cancel(undefined), 0);
    assert.equal(await cancel('pos_loss'), 1);
    assert.equal(await listed(), undefined);
  });
});

describe('Bitget’s stub, for a unified account', () => {
  const STOP = {
    category: 'USDT-FUTURES',
    symbol: 'BTCUSDT',
    type: 'tpsl',
    tpslMode: 'full',
    posSide: 'long',
    stopLoss: '49000',
    slTriggerBy: 'market',
    slOrderType: 'market',
    clientOid: 'fs1',
  };

  for (const [what, stop, code] of [
    ['no category', { ...STOP, category: undefined }, 25200],
    ['no side of the position', { ...STOP, posSide: undefined }, 25200],
    ['a quantity of the whole position', { ...STOP, qty: '0.01' }, 25200],
    ['a part without a quantity', { ...STOP, tpslMode: 'partial' }, 25200],
    ['more than is held, in parts', { ...STOP, tpslMode: 'partial', qty: '0.02' }, 25595],
    ['a price between ticks', { ...STOP, stopLoss: '49000.05' }, 25607],
    ['a stop above the last price', { ...STOP, stopLoss: '51000' }, 25586],
    ['a stop above the mark price', { ...STOP, stopLoss: '51000', slTriggerBy: 'mark' }, 25590],
    ['a stop of the side that is not held', { ...STOP, posSide: 'short', stopLoss: '51000' }, 25601],
  ] as const)
    it(`refuses ${what}`, async () => {
      const ccxt = await long(bitget, { account_type: 'unified' }, UNIFIED, 0.01);
      await refuses((ccxt.privateUtaPostV3TradePlaceStrategyOrder as Calls[string])(stop), code);
    });

  it('refuses a stop beyond the average price of entry, though the price is further', async () => {
    const ccxt = await long(bitget, { account_type: 'unified' }, UNIFIED, 0.01);
    await bitget.control('POST', 'prices', { BTCUSDT: 52_000 });
    const place = ccxt.privateUtaPostV3TradePlaceStrategyOrder as Calls[string];
    await refuses(place({ ...STOP, stopLoss: '51000' }), 25580);
    await place(STOP);
  });

  it('takes one of the whole position, and modifies nothing without a quantity or a change', async () => {
    const ccxt = await long(bitget, { account_type: 'unified' }, UNIFIED, 0.01);
    const call = (name: string, params: object) => (ccxt[name] as Calls[string])(params);
    await call('privateUtaPostV3TradePlaceStrategyOrder', STOP);
    await refuses(call('privateUtaPostV3TradePlaceStrategyOrder', { ...STOP, clientOid: 'fs2' }), 25594);
    const modify = (params: object) =>
      call('privateUtaPostV3TradeModifyStrategyOrder', { clientOid: 'fs1', qty: '0.01', ...params });
    await refuses(modify({ stopLoss: '49100', qty: undefined }), 25200);
    await refuses(modify({ stopLoss: '49000' }), 25600);
    await refuses(modify({ stopLoss: '49100', clientOid: 'none' }), 25597);
    await modify({ stopLoss: '49100' });
    await bitget.control('POST', 'prices', { BTCUSDT: 49_050 });
    await refuses(modify({ stopLoss: '49200' }), 25596);
    await refuses(call('privateUtaPostV3TradeCancelStrategyOrder', { clientOid: 'fs1' }), 25597);
    await refuses(call('privateUtaGetV3TradeUnfilledStrategyOrders', {}), 25200);
  });
});
