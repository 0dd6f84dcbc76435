import NIOConcurrencyHelpers
import Recordings
import Terminal

/// The recording of a program, for the screen, which is made before the recorder. May be used on any thread.
final class RecordingState: Sendable {
    private let recorder = NIOLockedValueBox<Recorder?>(nil)

    /// Takes the recorder, which shows itself from now on.
    func follow(_ recorder: Recorder) { self.recorder.withLockedValue { $0 = recorder } }

    var shown: DisplayRecording? {
        self.recorder.withLockedValue { $0 }?.written.map { written in
            DisplayRecording(file: FilePath.last(of: written.path), bytes: written.bytes, isTaken: written.isTaken)
        }
    }
}
