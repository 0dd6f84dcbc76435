import Glibc
import NIOCore
import Platform
import Recordings

/// The destination of an export.
final class ExportOutput {
    static let chunkBytes = 256 << 10

    /// The output file; `nil` for standard output.
    private let file: OutputFile?

    init(path: String?) throws(OperatorError) {
        do throws(RecordingFailure) {
            self.file = if let path { try OutputFile(path) } else { nil }
        } catch {
            throw OperatorError(error)
        }
    }

    /// Writes the whole text; `false` after the reader has closed the pipe.
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

    /// Flushes the file to the disk.
    func close() throws(OperatorError) {
        do throws(RecordingFailure) {
            try self.file?.finish()
        } catch {
            throw OperatorError(error)
        }
    }
}
