/** A block when asked for one, as the tests' own chains do it; several may fall in one second. */
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
