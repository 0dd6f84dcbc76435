import Glibc
import NIOCore
import Recordings
package import Wire

extension Assembly {
    /// Writes what recordings hold as rows, to a new file or to standard output.
    package static func export(_ files: [String], order: RecordingExport.Order, to path: String?) throws {
        var export = RecordingExport(order)
        let output = try ExportOutput(path: path)
        for file in files {
            export.beginFile()
            let source = try ExportSource(path: file)
            while let event = try source.next() {
                export.take(event)
                // A reader that has had enough ends it, as it ends any filter.
                if export.waitingBytes >= ExportOutput.chunkBytes, try !output.write(export.takeText()) { return }
            }
            if !source.hasFrames {
                throw OperatorError(
                    "\(file) holds no recorded frame (one JSON object a line, with \"at\" and \"frame\")",
                    status: .failure
                )
            }
        }
        export.finish()
        guard try output.write(export.takeText()) else { return }
        try output.close()
        let report = export.report
        if report.damaged > 0 {
            Console.complain("warning: \(report.damaged) lines or frames cannot be read and are left out")
        }
        if report.late > 0 {
            Console.complain("warning: \(report.late) trades came too late for their bars and are left out")
        }
        if report.repeated > 0 { Console.complain("\(report.repeated) trades came twice and are there once") }
    }
}

/// A recording being read for an export, from its start to its end, compressed or not.
private final class ExportSource {
    private let bytes: RecordingBytes
    private var lines = RecordingReader()
    private var isAtEnd = false
    private(set) var hasFrames = false

    init(path: String) throws(OperatorError) {
        do throws(RecordingFailure) {
            self.bytes = try RecordingBytes(path: path)
            try self.bytes.readAhead()
        } catch {
            throw OperatorError("\(error)", status: .failure)
        }
    }

    func next() throws(OperatorError) -> RecordingEvent? {
        while true {
            if let event = self.lines.next() {
                if case .frame = event { self.hasFrames = true }
                return event
            }
            if self.isAtEnd { return nil }
            do throws(RecordingFailure) {
                if let text = try self.bytes.next() {
                    self.lines.feed(text)
                } else {
                    self.isAtEnd = true
                    self.lines.finish()
                }
            } catch {
                throw OperatorError("\(error)", status: .failure)
            }
        }
    }
}

/// Where an export goes.
private final class ExportOutput {
    static let chunkBytes = 256 << 10

    private let path: String?
    private let descriptor: Int32

    init(path: String?) throws(OperatorError) {
        self.path = path
        guard let path else {
            self.descriptor = STDOUT_FILENO
            return
        }
        self.descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard self.descriptor >= 0 else {
            let reason =
                errno == EEXIST ? "it exists, and nothing is overwritten" : String(cString: strerror(errno))
            throw OperatorError("cannot write \(path): \(reason); choose another file", status: .failure)
        }
    }

    /// Writes all of it; `false` where nobody reads it any more.
    func write(_ text: ByteBuffer) throws(OperatorError) -> Bool {
        var rest = text.readableBytesView[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(self.descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EPIPE { return false }
                throw self.failure()
            }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Sees to it that a file is on the disk.
    func close() throws(OperatorError) {
        guard self.path != nil else { return }
        guard fsync(self.descriptor) == 0 || errno == EINVAL, Glibc.close(self.descriptor) == 0 else {
            throw self.failure()
        }
    }

    private func failure() -> OperatorError {
        OperatorError("cannot write \(self.path ?? "the rows"): \(String(cString: strerror(errno)))", status: .failure)
    }
}
