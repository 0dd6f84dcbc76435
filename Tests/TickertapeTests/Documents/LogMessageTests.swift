import Foundation
import Testing
import TickertapeTesting

/// The log's messages in the sources.
@Suite("The messages of the log")
struct LogMessageTests {
    /// The texts that the sources give to a logger, by file.
    private static func messages() throws -> [(file: String, text: String)] {
        let folder = "\(RunningProgram.sources)/Sources"
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
        return try files.flatMap { file in
            let source = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            let given = source.matches(
                of:
                    /[lL]ogger\??\.(?:trace|debug|info|notice|warning|error|critical|log)\((?:\s*level:[^"\n]*,)?\s*"((?:[^"\\\n]|\\.)*)"/
            )
            // One that is chosen between texts.
            let chosen = source.matches(of: /: Logger\.Message =[^\n]*/).flatMap { $0.0.matches(of: /"([^"]*)"/) }
            return given.map { (file, String($0.1)) } + chosen.map { (file, String($0.1)) }
        }
    }

    @Test("begin with a capital letter, are the same text each time, and end without a full stop")
    func form() throws {
        let messages = try Self.messages()
        #expect(messages.count > 25)
        for (file, text) in messages {
            #expect(text.first?.isUppercase == true, "\(file): \(text)")
            #expect(!text.contains("\\("), "facts belong into the metadata; \(file): \(text)")
            #expect(text.last != ".", "\(file): \(text)")
        }
    }
}
