import Glibc

/// A call of the operating system that failed: its name and `errno`.
package struct SystemCallFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package var call: String
    package var number: Int32

    package init(call: String, number: Int32) {
        self.call = call
        self.number = number
    }

    package var description: String {
        "\(self.call): \(String(cString: strerror(self.number)))"
    }
}
