import Feeds
import Glibc
import MockUpstream
import NIOCore
import Recordings

/// The text of a system error, without call names and numbers.
enum SystemErrorText {
    static func of(_ error: any Error) -> String {
        if let error = error as? IOError { return String(cString: strerror(error.errnoCode)) }
        return "\(error)"
    }

    /// Returns a number with its noun. Without `several`, the plural is `one` with an s.
    static func count(_ number: some BinaryInteger, _ one: String, _ several: String? = nil) -> String {
        "\(number) \(number == 1 ? one : several ?? one + "s")"
    }

    /// Returns the names of a recording's continuation files, or two of them and the number of the others.
    static func continuation(of file: String, in followers: [String]) -> String {
        let names = followers.map(FilePath.last)
        let list =
            names.count < 4
            ? names.joined(separator: ", ")
            : "\(names[0]), \(names[1]) and \(names.count - 2) more"
        return "\(file) goes on in \(list)"
    }

    /// Warns of files of a recording that are left out, if there is a reason.
    static func reportLeftOut(_ reason: String?) {
        guard let reason else { return }
        Console.printError("warning: \(reason); it and the files of the recording after it are left out")
    }
}

extension OperatorError {
    /// Makes an error from a recording's failure.
    init(_ failure: RecordingFailure) { self.init(failure.description, status: .failure) }

    /// Opens a recording, or throws one line about why it cannot be used.
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
