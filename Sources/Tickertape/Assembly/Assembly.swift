/// Where rooms become a program: one function a command, each in a file of its own.
package enum Assembly {}
