package android.nfc;

/** As much of Android's class as the sample uses. */
public class NdefRecord {
  public static final short TNF_EXTERNAL_TYPE = 4;

  final short tnf;
  private final byte[] type;
  private final byte[] id;
  private final byte[] payload;

  public NdefRecord(short tnf, byte[] type, byte[] id, byte[] payload) {
    this.tnf = tnf;
    this.type = type == null ? new byte[0] : type;
    this.id = id == null ? new byte[0] : id;
    this.payload = payload == null ? new byte[0] : payload;
  }

  public byte[] getType() {
    return type;
  }

  public byte[] getId() {
    return id;
  }

  public byte[] getPayload() {
    return payload;
  }
}
