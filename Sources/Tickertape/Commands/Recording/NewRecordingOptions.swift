import ArgumentParser
import NIOCore
import Recordings

/// The options of commands that make a new recording.
struct NewRecordingOptions: ParsableArguments {
    @Flag(help: "Write the plain form: JSON Lines with \"at\" and \"frame\" only, without gaps and events.")
    var plain = false

    var form: RecordingOutputFile.Form { self.plain ? .plain : .current }

    /// Makes a new recording, and prints what it holds.
    func write(
        _ target: String,
        _ body: () throws(RecordingFailure) -> RecordingEdits.Result
    ) throws(OperatorError) {
        SignalHandling.removeUnfinishedFile()
        do throws(RecordingFailure) {
            let result = try body()
            let frames = SystemErrorText.count(result.frames, "frame")
            Console.print("\(target): \(frames), \(SystemErrorText.count(result.lines, "line"))")
            SystemErrorText.reportLeftOut(result.unreadable)
            if let missing = result.missing { Console.printError("warning: \(missing)") }
            if result.files > 1 { Console.print("read from \(result.files) files") }
            if result.damagedLines > 0 {
                Console.print(
                    "\(SystemErrorText.count(result.damagedLines, "damaged line was", "damaged lines were")) left out"
                )
            }
            if result.losses > 0 {
                Console.print(
                    "something is missing at \(SystemErrorText.count(result.losses, "place")); the new file records it"
                )
            }
            if result.duplicates > 0 {
                Console.print(
                    "\(SystemErrorText.count(result.duplicates, "line was", "lines were")) in several recordings"
                )
            }
        } catch {
            throw OperatorError(error)
        }
    }
}
