const NOTE_S = 0.13;
const LOUDNESS = 0.15;

/** Plays notes, given in Hz, in sequence. @returns the duration in milliseconds. */
export function playNotes(audio: AudioContext, notes: readonly number[]): number {
  const gain = audio.createGain();
  gain.gain.value = LOUDNESS;
  gain.connect(audio.destination);
  notes.forEach((frequency, i) => {
    const oscillator = audio.createOscillator();
    oscillator.frequency.value = frequency;
    oscillator.connect(gain);
    oscillator.start(audio.currentTime + i * NOTE_S);
    oscillator.stop(audio.currentTime + (i + 1) * NOTE_S);
  });
  return notes.length * NOTE_S * 1000;
}
