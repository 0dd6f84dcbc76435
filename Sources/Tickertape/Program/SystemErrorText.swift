import Feeds
import Glibc
import MockUpstream
import NIOCore
import Recordings

/// An error of the system in the system's words, without the calls and numbers around them.
enum SystemErrorText {
    static func of(_ error: any Error) -> String {
        if let error = error as? IOError { return String(cString: strerror(error.errnoCode)) }
        return "\(error)"
    }

    /// A number with its word, of one or of several; without the latter with an s.
    static func count(_ number: some BinaryInteger, _ one: String, _ several: String? = nil) -> String {
        "\(number) \(number == 1 ? one : several ?? one + "s")"
    }

    /// The files in which a recording goes on: the names of a few, or of two and how many more.
    static func continuation(of file: String, in followers: [String]) -> String {
        let names = followers.map(FilePath.last)
        let list =
            names.count < 4
            ? names.joined(separator: ", ")
            : "\(names[0]), \(names[1]) and \(names.count - 2) more"
        return "\(file) goes on in \(list)"
    }

    /// Says why files of a recording are left out, if any are.
    static func reportLeftOut(_ reason: String?) {
        guard let reason else { return }
        Console.complain("warning: \(reason); it and the files of the recording behind it are left out")
    }
}

extension OperatorError {
    /// A recording that cannot be read or written.
    init(_ failure: RecordingFailure) { self.init(failure.description, status: .failure) }

    /// Opens a recording, or says in a line for the person why it cannot be used.
    static func opening(recording path: String) throws(OperatorError) -> RecordingFile {
        do throws(RecordingFailure) {
            let file = try RecordingFile(path: path)
            SystemErrorText.reportLeftOut(file.unreadable)
            return file
        } catch {
            throw OperatorError(error)
        }
    }
}
