/** Mines blocks on demand, like the tests' own chains; several blocks may share one second. */
export default {
  networks: {
    node: {
      type: 'edr-simulated',
      chainType: 'l1',
      chainId: Number(process.env.CHAIN_ID),
      mining: { auto: false, interval: 0 },
      allowBlocksWithSameTimestamp: true,
      accounts: [],
    },
  },
};
