import Glibc
import NIOCore
import Platform
import Recordings

/// Where an export goes.
final class ExportOutput {
    static let chunkBytes = 256 << 10

    /// Where it is not standard output.
    private let file: OutputFile?

    init(path: String?) throws(OperatorError) {
        do throws(RecordingFailure) {
            self.file = if let path { try OutputFile(path) } else { nil }
        } catch {
            throw OperatorError(error)
        }
    }

    /// Writes all of it; `false` where nobody reads it any more.
    func write(_ text: ByteBuffer) throws(OperatorError) -> Bool {
        guard let file else {
            let code = text.withUnsafeReadableBytes { WholeWrite.write($0, to: STDOUT_FILENO) }
            guard code != EPIPE else { return false }
            guard code == 0 else {
                throw OperatorError("cannot write the rows: \(String(cString: strerror(code)))", status: .failure)
            }
            return true
        }
        do throws(RecordingFailure) {
            try file.write(text)
            return true
        } catch {
            throw OperatorError(error)
        }
    }

    /// Sees to it that a file is on the disk.
    func close() throws(OperatorError) {
        do throws(RecordingFailure) {
            try self.file?.finish()
        } catch {
            throw OperatorError(error)
        }
    }
}
