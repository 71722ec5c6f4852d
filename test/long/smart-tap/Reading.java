package com.google.smarttapsample;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import org.bouncycastle.util.encoders.Hex;

/**
 * The calls of the sample's activity, in its order, without a screen: each command is a line of hex
 * on standard output, each answer one on standard input. The last line is the value that was read.
 */
class Reading {
  private static final BufferedReader ANSWERS =
      new BufferedReader(new InputStreamReader(System.in));

  private static byte[] transceive(byte[] command) throws Exception {
    System.out.println(Hex.toHexString(command));
    return Hex.decode(ANSWERS.readLine());
  }

  public static void main(String[] arguments) throws Exception {
    byte[] selectOse = Hex.decode("00a404000a4f53452e5641532e303100");
    SelectOSEResponse ose = new SelectOSEResponse(transceive(selectOse));
    byte[] selectSmartTap = Hex.decode("00a4040009a000000476d000011100");
    SelectSmartTapResponse smartTap = new SelectSmartTapResponse(transceive(selectSmartTap));
    NegotiateCryptoCommand negotiate = new NegotiateCryptoCommand(smartTap.mobileDeviceNonce);
    NegotiateCryptoResponse negotiated =
        new NegotiateCryptoResponse(transceive(negotiate.commandToByteArray()));
    GetDataCommand getData =
        new GetDataCommand(
            negotiate.sessionId, negotiate.collectorIdRecord, negotiated.sequenceNumber + 1);
    GetDataResponse data =
        new GetDataResponse(
            transceive(getData.commandToByteArray()),
            negotiated.mobileDeviceEphemeralPublicKey,
            negotiate.terminalEphemeralPrivateKey,
            negotiate.terminalNonce,
            NegotiateCryptoCommand.COLLECTOR_ID,
            negotiate.terminalEphemeralPublicKeyCompressed,
            negotiate.signedData,
            smartTap.mobileDeviceNonce);
    System.out.println(ose.walletApplicationLabel + " " + data.decryptedSmartTapRedemptionValue);
  }
}
