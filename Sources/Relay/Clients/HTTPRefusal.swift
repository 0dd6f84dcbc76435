import NIOCore
import NIOHTTP1
import Wire

/// A refusal of a request: a status, a type for programs, and one line for people.
package struct HTTPRefusal: Error, Equatable {
    var status: HTTPResponseStatus
    /// A stable word for programs.
    var type: String
    /// One line for people.
    var message: String
    /// The remedy, in one line.
    var hint: String?
    /// Headers in addition to those of every answer.
    var headers: HTTPHeaders = [:]
    /// When the request may succeed, ms since 1970.
    var retryAt: Int64?

    /// The body: one line of JSON.
    var body: ByteBuffer {
        JSONWriter.line { out in
            out.field("type", self.type)
            out.field("message", self.message)
            if let hint { out.field("cure", hint) }
            if let retryAt { out.field("retryAt", retryAt) }
        }
    }
}
