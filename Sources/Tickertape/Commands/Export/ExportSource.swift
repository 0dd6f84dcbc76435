import Recordings
import Wire

/// The reader of one recording for an export, over all of its files, compressed or not.
final class ExportSource {
    private let stream: RecordingStream
    private var losses = RecordingLosses()
    private(set) var hasFrames = false
    /// Whether it begins as a recording does. A program that ended early leaves one without a frame.
    private(set) var hasHeader = false
    /// The files that continue the named one.
    let followers: [String]

    init(path: String) throws(OperatorError) {
        do throws(RecordingFailure) {
            self.stream = try RecordingStream(path: path)
            self.followers = self.stream.segments.dropFirst().map(\.path)
            SystemErrorText.reportLeftOut(self.stream.unreadable)
            try self.stream.readAhead()
        } catch {
            throw OperatorError(error)
        }
    }

    /// The number of parts of compressed files that could not be read.
    private(set) var damagedParts = 0
    /// The number of lines that were reported as missing and came later.
    var returnedLines: UInt64 { self.losses.returned }

    /// Returns the next line of a kind that an export takes, and what is missing before it.
    func next() throws(OperatorError) -> (line: RecordedLine, loss: RecordingLoss?)? {
        do throws(RecordingFailure) {
            var missing: RecordingLoss?
            while let line = try self.stream.next() {
                if let loss = self.losses.take(line, wall: line.wall.map { $0 &* 1_000 }) {
                    missing = missing?.joined(loss) ?? loss
                }
                switch line.content {
                case .note(let note): if note.outcome == nil { continue }
                case .unknown: continue
                case .unreadable:
                    self.damagedParts += 1
                    continue
                case .frame: self.hasFrames = true
                case .header: self.hasHeader = true
                case .gap, .damaged, .torn: break
                }
                return (line, missing)
            }
            return nil
        } catch {
            throw OperatorError(error)
        }
    }
}
