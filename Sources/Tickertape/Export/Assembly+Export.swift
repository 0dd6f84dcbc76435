import Glibc
import NIOCore
import Platform
import Recordings
package import Wire

extension Assembly {
    /// Writes what recordings hold as rows, to a new file or to standard output.
    package static func export(_ files: [String], order: RecordingExport.Order, to path: String?) throws {
        if path != nil { HalfFile.take() }
        // Who reads no more ends it in order.
        signal(SIGPIPE, SIG_IGN)
        let plan = try ExportPlan(files, byTime: order.bars != nil)
        var order = order
        if plan.overlaps { order.openBars = ExportPlan.openBars }
        var export = RecordingExport(order)
        let output = try ExportOutput(path: path)
        var damagedParts = 0
        for file in plan.files {
            export.beginFile()
            let source = try ExportSource(path: file)
            if !source.followers.isEmpty {
                Console.complain("\(file) goes on in \(Self.list(source.followers))")
            }
            while let (event, loss) = try source.next() {
                if let loss { export.lost(lines: loss.lines, from: loss.from, to: loss.to) }
                export.take(event)
                // A reader that has had enough ends it, as it ends any filter.
                if export.waitingBytes >= ExportOutput.chunkBytes, try !output.write(export.takeText()) { return }
            }
            export.found(lines: source.returnedLines)
            damagedParts += source.damagedParts
            if !source.hasFrames {
                throw OperatorError(
                    "\(file) holds no recorded frame (one JSON object a line, with \"at\" and \"frame\")",
                    status: .failure
                )
            }
        }
        export.finish()
        guard try output.write(export.takeText()) else { return }
        let report = export.report
        let missing = ExportMissing.words(report, order)
        if report.trades > 0 {
            try output.close()
            if let missing { Console.complain("warning: \(missing)") }
        }
        if report.damaged > 0 {
            let lines = PlainWords.count(
                report.damaged,
                "line or frame cannot be read and is",
                "lines or frames cannot be read and are"
            )
            Console.complain("warning: \(lines) left out")
        }
        if damagedParts > 0 {
            let parts = PlainWords.count(
                damagedParts,
                "part of a compressed file cannot be read, and what was in it",
                "parts of compressed files cannot be read, and what was in them"
            )
            Console.complain("warning: \(parts) is missing")
        }
        if report.lostLines > report.damaged {
            let lines = PlainWords.count(report.lostLines, "line is", "lines are")
            Console.complain("warning: \(lines) missing in the recordings")
        }
        if report.lostTrades > 0 {
            let trades = PlainWords.count(report.lostTrades, "trade is", "trades are")
            Console.complain("warning: \(trades) missing in the recordings")
        }
        if report.unnamed > 0 {
            let rows = PlainWords.count(report.unnamed, "row has", "rows have")
            Console.complain("warning: \(rows) neither epoch nor number: the line that tells them is damaged")
        }
        if report.late > 0 {
            let trades = PlainWords.count(
                report.late,
                "trade came too late for its bar and is",
                "trades came too late for their bars and are"
            )
            Console.complain("warning: \(trades) left out")
        }
        if report.repeated > 0 {
            let trades = PlainWords.count(
                report.repeated,
                "trade came twice and is",
                "trades came twice and are"
            )
            Console.complain("\(trades) there once")
        }
        if report.possibleRepeats > 0 {
            let trades = PlainWords.count(
                report.possibleRepeats,
                "trade may have come before and is",
                "trades may have come before and are"
            )
            Console.complain("\(trades) there, marked")
        }
        if report.mayRepeat {
            Console.complain("warning: the recordings are in too many pieces: what came twice may be there twice")
        }
        // Behind what is damaged, which may be why.
        if report.trades == 0 { throw OperatorError(missing ?? "there is no trade in it", status: .failure) }
    }

    /// The names of a few files, or of two and how many more.
    static func list(_ paths: [String]) -> String {
        let names = paths.map(RecordingName.last)
        return names.count < 4
            ? names.joined(separator: ", ")
            : "\(names[0]), \(names[1]) and \(names.count - 2) more"
    }
}

/// A recording being read for an export, from its start to its end, over all of its files, compressed or not.
private final class ExportSource {
    private let stream: RecordingStream
    private var losses = RecordingLosses()
    /// Of the newest line, µs since 1970.
    private var wall: Int64?
    private(set) var hasFrames = false
    /// The files in which the named one goes on.
    let followers: [String]

    init(path: String) throws(OperatorError) {
        do throws(RecordingFailure) {
            self.stream = try RecordingStream(path: path)
            self.followers = self.stream.segments.dropFirst().map(\.path)
            PlainWords.tellLeftOut(self.stream.unreadable)
            try self.stream.readAhead()
        } catch {
            throw OperatorError("\(error)", status: .failure)
        }
        self.stream.damageFound = { [weak self] _, damage in self?.losses.lostPart(isTail: damage.isTail) }
    }

    var damagedParts: Int { self.stream.damagedParts }
    /// Lines that were told to be missing, and came later.
    var returnedLines: UInt64 { self.losses.returned }

    /// What comes next, and what is missing before it.
    func next() throws(OperatorError) -> (event: RecordingEvent, loss: RecordingLoss?)? {
        do throws(RecordingFailure) {
            var missing: RecordingLoss?
            while let line = try self.stream.next() {
                if var loss = self.losses.take(line) {
                    loss.from = self.wall.map { $0 &* 1_000 } ?? 0
                    loss.to = line.wall.map { $0 &* 1_000 } ?? loss.from
                    missing = missing?.joined(loss) ?? loss
                }
                self.wall = line.wall ?? self.wall
                guard let event = line.event else { continue }
                if case .frame = event { self.hasFrames = true }
                return (event, missing)
            }
            return nil
        } catch {
            throw OperatorError("\(error)", status: .failure)
        }
    }
}

/// Where an export goes.
private final class ExportOutput {
    static let chunkBytes = 256 << 10

    /// Where it is not standard output.
    private let file: OutputFile?

    init(path: String?) throws(OperatorError) {
        do throws(RecordingFailure) {
            self.file = if let path { try OutputFile(path) } else { nil }
        } catch {
            throw OperatorError(error.description, status: .failure)
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
            throw OperatorError(error.description, status: .failure)
        }
    }

    /// Sees to it that a file is on the disk.
    func close() throws(OperatorError) {
        do throws(RecordingFailure) {
            try self.file?.finish()
        } catch {
            throw OperatorError(error.description, status: .failure)
        }
    }
}
