"""Export of models: ONNX files, and Python code without dependencies."""
