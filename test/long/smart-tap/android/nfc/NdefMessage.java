package android.nfc;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** As much of Android's class as the sample uses: records without chunks (NFC Forum, NDEF 1.0). */
public class NdefMessage {
  private static final int BEGIN = 0x80;
  private static final int END = 0x40;
  private static final int SHORT = 0x10;
  private static final int HAS_ID = 0x08;

  private final NdefRecord[] records;

  public NdefMessage(NdefRecord first, NdefRecord... more) {
    records = new NdefRecord[more.length + 1];
    records[0] = first;
    System.arraycopy(more, 0, records, 1, more.length);
  }

  public NdefMessage(byte[] bytes) throws FormatException {
    List<NdefRecord> found = new ArrayList<>();
    ByteBuffer left = ByteBuffer.wrap(bytes);
    try {
      for (int flags = 0; (flags & END) == 0; ) {
        flags = left.get();
        int typeLength = left.get() & 0xff;
        int length = (flags & SHORT) != 0 ? left.get() & 0xff : left.getInt();
        int idLength = (flags & HAS_ID) != 0 ? left.get() & 0xff : 0;
        byte[] type = take(left, typeLength);
        byte[] id = take(left, idLength);
        found.add(new NdefRecord((short) (flags & 7), type, id, take(left, length)));
      }
    } catch (RuntimeException e) {
      throw new FormatException("not a message: " + e);
    }
    records = found.toArray(new NdefRecord[0]);
  }

  private static byte[] take(ByteBuffer left, int length) {
    byte[] bytes = new byte[length];
    left.get(bytes);
    return bytes;
  }

  public NdefRecord[] getRecords() {
    return records;
  }

  public int getByteArrayLength() {
    return toByteArray().length;
  }

  public byte[] toByteArray() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int at = 0; at < records.length; at++) {
      NdefRecord one = records[at];
      byte[] payload = one.getPayload();
      boolean isShort = payload.length < 256;
      int ends = (at == 0 ? BEGIN : 0) | (at == records.length - 1 ? END : 0);
      int forms = (isShort ? SHORT : 0) | (one.getId().length > 0 ? HAS_ID : 0);
      out.write(ends | forms | one.tnf);
      out.write(one.getType().length);
      if (isShort) {
        out.write(payload.length);
      } else {
        out.writeBytes(ByteBuffer.allocate(4).putInt(payload.length).array());
      }
      if (one.getId().length > 0) {
        out.write(one.getId().length);
      }
      out.writeBytes(one.getType());
      out.writeBytes(one.getId());
      out.writeBytes(payload);
    }
    return out.toByteArray();
  }
}
