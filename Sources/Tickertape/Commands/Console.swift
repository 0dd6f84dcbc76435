import Glibc
import Market
import Platform
import Platform
import Synchronization
import Wire

/// The two standard streams, written whole and without buffering.
///
/// Every line for a person goes through ``PrintableText`` here, whoever wrote what stands in it: a header of a recording, a
/// certificate's name, an argument. A line is one line; text of several is printed line by line.
enum Console {
    /// The system's number for why standard output did not take a line, the first time; 0 where it took all.
    private static let failureNumber = Atomic<Int32>(0)

    /// Why standard output did not take all that was printed, as a full disk does not.
    static var failure: String? {
        let number = self.failureNumber.load(ordering: .relaxed)
        return number == 0 ? nil : String(cString: strerror(number))
    }

    /// Prints a line to standard output.
    static func print(_ line: String) { self.put(PrintableText.line(line) + "\n") }

    /// Prints a record of CSV, which stands for one line and ends as RFC 4180 wants it.
    static func print(csv record: String) { self.put(PrintableText.line(record) + "\r\n") }

    /// Prints a JSON text on a line to standard output; what no person is to see is escaped in it.
    static func print(json: String) {
        self.put(String(decoding: JSONText.printable(json.utf8), as: UTF8.self) + "\n")
    }

    /// A closed pipe ends the program as it does any filter; of any other failure ``failure`` tells at the end.
    private static func put(_ text: String) {
        let number = self.write(text, to: STDOUT_FILENO)
        guard number != 0, number != EPIPE else { return }
        _ = self.failureNumber.compareExchange(expected: 0, desired: number, ordering: .relaxed)
    }

    /// Prints a line to standard error, with the program's name.
    static func complain(_ line: String) {
        self.write("tickertape: \(PrintableText.line(line))\n", to: STDERR_FILENO)
    }

    /// Prints a line of the log, which is clean already, to standard error.
    static func log(_ line: String) { self.write(line, to: STDERR_FILENO) }

    /// Prints several lines of our own to standard error, without the program's name.
    static func complain(lines: String) {
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
            self.write("\(PrintableText.line(line))\n", to: STDERR_FILENO)
        }
    }

    /// Answers with the system's number for what went wrong, or 0.
    @discardableResult
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        Array(text.utf8).withUnsafeBytes { WholeWrite.write($0, to: descriptor) }
    }
}
